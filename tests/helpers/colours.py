"""How well a colour can be read on another."""


def _luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(share * channel for share, channel in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(color: str, other: str) -> float:
    """The contrast ratio of two `#rrggbb` colours, from 1 (the same) to 21 (WCAG 2.2)."""
    low, high = sorted(map(_luminance, (color, other)))
    return (high + 0.05) / (low + 0.05)

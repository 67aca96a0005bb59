# A plain private module. Edited directly: no notebook exports it; tested in tests/test_split.py.
"""What our Punkt knows about English: abbreviations that may end a sentence, titles that never do, small words."""

from __future__ import annotations

TITLES = """mr mrs ms messrs mx dr drs prof profs revd fr sr gen lt col maj capt cpt cmdr cdr adm sgt cpl pfc pvt
brig lieut hon gov sen sens rep reps pres supt insp det atty amb mme mlle vs v cf viz e.g i.e eg ie ca approx"""
ABBREVIATIONS = """jr esq ph.d phd ll.b ll.m d.phil b.sc m.sc m.b.a inc ltd co corp llc plc bros cos assn assoc dept
univ inst mfg intl jan feb apr aug sept oct nov dec st ste mt ft ave blvd rd hwy bldg sq ala ariz calif conn fla kan
kans ky mich minn mont neb nev okla penn tenn tex vt wis w.va u.s.a u.s.s.r u.a.e b.b.c b.c.e r.i.p a.k.a etc al min
hr hrs yr yrs lb lbs oz kg km cm mm yd yds mph kph ed eds trans repr rev suppl est tel dist pty"""
BEFORE_NUMBERS = """no nos nr n° art arts sec secs fig figs eq eqs p pp pg pgs vol vols ch chap chs op para paras pt
pts ver tab ex apt jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun"""
SMALL_WORDS = """the this that these those there then he she it we they you i my his her its our their your and but
or so yet nor for if when while although though because since after before until once as at by from in into of on to
with without under over during despite however moreover meanwhile nevertheless nonetheless therefore thus hence
instead still also even only just what who why how where which whose some any many most much several few all both each
every another other others no not none one two three is are was were do does did has have had can could will would
should must here now today yesterday tomorrow later earlier according more an a"""

"""`python -m summeval_nb` is the command `summeval`."""

from summeval_nb._start import main

if __name__ == "__main__":
    main()

// A library that is looked for and never called.

// What a fake module needs.
extern "C" int needed();
extern "C" [[gnu::visibility("default")]] int needed() { return 0; }

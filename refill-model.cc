// Exhaustive model: shards with empty disks come back from copies. The same rules and judgements as in refill.py, which
// is readable but slow. g++ -O1 -std=c++20 refill.cc && ./a.out rules|off
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>
using Id = uint16_t;  // timeline * 4 + step
static Id id(int tl, int step) { return Id(tl * 4 + step); }
static const char* kRules[] = {"jump", "mark", "max_alive", "trim", "believe", "lost", "seal", "not_initial", "reach_all", "next_older"};
enum Rule { jump, mark, max_alive, trim, believe, lost, seal, not_initial, reach_all, next_older, rules };
template <int N>
struct List {  // ascending, zero-filled: a state is compared by its bytes
  uint16_t n = 0;
  Id at[N] = {};
  bool has(Id i) const { return std::find(at, at + n, i) != at + n; }
  bool add(Id i) {
    if (has(i)) return true;
    if (n == N) { std::fprintf(stderr, "list full\n"); std::abort(); }
    int k = n++;
    for (; k > 0 && at[k - 1] > i; --k) at[k] = at[k - 1];
    at[k] = i;
    return true;
  }
  template <class P>
  void drop(P p) {
    int k = 0;
    for (int i = 0; i < n; ++i)
      if (!p(at[i])) at[k++] = at[i];
    for (int i = k; i < n; ++i) at[i] = 0;
    n = uint16_t(k);
  }
};
struct Disk { uint16_t tl = 0; uint16_t n = 0; Id ids[5] = {}; uint8_t token[6] = {}; Id partial = 0;
  int find(Id i) const { for (int k = 0; k < n; ++k) if (ids[k] == i) return k; return -1; }
  void put(Id i, uint8_t t) { int k = n++; if (n > 5) std::abort(); for (; k > 0 && ids[k-1] > i; --k) { ids[k] = ids[k-1]; token[k] = token[k-1]; } ids[k] = i; token[k] = t; }
  template <class P> void keep(P p) { int k = 0; for (int i = 0; i < n; ++i) if (p(ids[i])) { ids[k] = ids[i]; token[k] = token[i]; ++k; } for (int i = k; i < n; ++i) { ids[i] = 0; token[i] = 0; } n = uint16_t(k); } };
struct Proc { uint16_t up = 0; uint16_t serving = 0; List<3> lost; };
struct Hello { uint16_t there = 0; uint16_t tl = 0; List<6> held; List<5> sets; List<3> lost; };
struct Set { Id i = 0; uint8_t token = 0, parts = 0, damaged = 0, pad = 0; };
struct Ledger { uint16_t there = 0; uint16_t tl = 0; Id base = 0; Id named = 0; Id copied = 0; uint16_t listed = 0; List<5> complete; };
struct State {
  Ledger l; Disk disk[3]; Proc proc[3]; uint16_t lead = 0; Hello h[3]; uint16_t sets = 0; Set set[5]; uint16_t mark = 0;
  uint8_t k = 0, w = 0, d = 0, step = 0; List<12> used; uint8_t token = 1, had = 0;
  bool operator==(const State& o) const { return !std::memcmp(this, &o, sizeof *this); }
};
struct Hash { size_t operator()(const State& s) const { const auto* p = reinterpret_cast<const unsigned char*>(&s); uint64_t h = 1469598103934665603u; for (size_t i = 0; i < sizeof s; ++i) h = (h ^ p[i]) * 1099511628211u; return h ^ (h >> 29); } };
struct Config { int S, kills, wipes, damages, steps; bool stranger; };
struct Found { size_t states = 0; bool full = true; std::string bad; size_t stuck = 0; };
struct Model {
  Config c; bool on[rules]; std::string bad; std::vector<std::pair<bool, State>> out;
  int all() const { return (1 << c.S) - 1; }
  const Set* set(const State& s, Id i) const { for (int k = 0; k < s.sets; ++k) if (s.set[k].i == i) return &s.set[k]; return nullptr; }
  bool whole(const Set& x) const { return x.parts == all(); }
  static void drop_set(State& s, int k) { for (int i = k; i + 1 < s.sets; ++i) s.set[i] = s.set[i + 1]; s.set[--s.sets] = {}; }
  void put_set(State& s, Set x) const { int k = s.sets++; if (s.sets > 5) std::abort(); for (; k > 0 && s.set[k-1].i > x.i; --k) s.set[k] = s.set[k-1]; s.set[k] = x; }
  List<8> believed(const State& s) const {
    List<8> r;
    if (on[believe] && s.l.copied == 0) return r;
    for (int i = 0; i < c.S; ++i) if (s.h[i].there) for (int k = 0; k < s.h[i].sets.n; ++k) { Id x = s.h[i].sets.at[k]; if (!on[believe] || x <= std::max(s.l.named, s.l.copied)) r.add(x); }
    return r;
  }
  bool can(const Hello& h, Id i, const List<8>& sets) const { return h.held.has(i) || (sets.has(i) && (!on[lost] || !h.lost.has(i))); }
  std::optional<Id> choose(const State& s) const {
    Id newest = s.l.complete.at[s.l.complete.n - 1];
    bool hold = true; for (int i = 0; i < c.S; ++i) hold = hold && s.h[i].held.has(newest);
    if (hold) return newest;
    auto sets = believed(s); auto cand = sets; for (int k = 0; k < s.l.complete.n; ++k) cand.add(s.l.complete.at[k]);
    for (int k = cand.n; k-- > 0;) {
      Id i = cand.at[k];
      if (i == 0 && on[not_initial] && newest != 0) continue;
      bool r = true; for (int j = 0; j < c.S; ++j) r = r && can(s.h[j], i, sets);
      if (r || !on[reach_all]) return i;
    }
    return {};
  }
  bool taken(const State& s, int shard, const Hello& h) const {
    if (h.held.has(s.l.complete.at[s.l.complete.n - 1])) return true;
    State t = s; t.h[shard] = h; auto sets = believed(t);
    auto cand = sets; for (int k = 0; k < s.l.complete.n; ++k) cand.add(s.l.complete.at[k]);
    for (int k = 0; k < cand.n; ++k) { Id i = cand.at[k]; if ((i != 0 || !on[not_initial]) && (h.held.has(i) || (sets.has(i) && !h.lost.has(i)))) return true; }
    return false;
  }
  bool begin(State& s) {
    bool first = s.l.tl == 0;
    auto base = first ? std::optional<Id>(0) : choose(s);
    if (!base) return false;
    uint16_t tl = s.l.tl;
    if (on[max_alive]) for (int i = 0; i < c.S; ++i) tl = std::max(tl, s.h[i].tl);
    ++tl;
    // Where all disks are lost and the place has nothing, nobody can know that the run has begun.
    bool known = false; for (int k = 0; k < s.sets; ++k) known = known || s.set[k].token != 254; for (int i = 0; i < c.S; ++i) known = known || s.disk[i].tl > 0;
    if (first && !known) { s.had = 0; s.used = {}; }  // to everybody a new run
    if (s.used.has(tl)) bad = "A timeline begun twice";
    if (*base == 0 && s.had) bad = "C begins anew";
    if (first) { s.l.complete = {}; s.l.complete.add(0); }
    auto sets = believed(s);
    Id newest = s.l.complete.at[s.l.complete.n - 1];
    auto all_hold = [&](Id i) { for (int j = 0; j < c.S; ++j) if (!s.h[j].held.has(i)) return false; return true; };
    if (*base != newest || !all_hold(*base)) { s.l.complete.drop([&](Id i) { return i >= *base || (on[trim] && !all_hold(i)); }); s.l.complete.add(*base); }
    if (!s.l.complete.has(s.l.named)) s.l.named = 0;
    if (!s.l.complete.has(s.l.copied)) s.l.copied = sets.has(*base) ? *base : 0;
    s.l.tl = tl; s.l.base = *base; s.l.listed = 1;
    for (int i = 0; i < c.S; ++i) s.proc[i].serving = 0;
    ++s.token;
    return true;
  }
  void put(bool fault, const State& s) { out.emplace_back(fault, s); }
  std::vector<std::string> trail;
  void hello(const State& s, int i) {
    const auto& p = s.proc[i]; Hello h; h.there = 1; h.tl = s.disk[i].tl; h.held.add(0);
    for (int k = 0; k < s.disk[i].n; ++k) h.held.add(s.disk[i].ids[k]);
    if (!on[seal] && s.disk[i].partial) h.held.add(s.disk[i].partial);
    for (int k = 0; k < s.sets; ++k) if (whole(s.set[k])) h.sets.add(s.set[k].i);
    h.lost = p.lost;
    bool known = s.h[i].there;
    if (known && (p.serving == s.l.tl || !std::memcmp(&s.h[i].lost, &h.lost, sizeof h.lost))) return;
    if (s.l.tl == 0 && h.tl > 0) return;
    if (s.l.tl > 0 && !known && !taken(s, i, h)) return;
    State t = s; t.h[i] = h;
    bool here = true; for (int j = 0; j < c.S; ++j) here = here && t.h[j].there;
    if (here && (!known || h.lost.has(s.l.base))) { State u = t; if (begin(u)) return put(false, u); }
    put(false, t);
  }
  void moves(const State& s) {
    out.clear(); bad.clear();
    bool serving = s.l.there && s.l.tl > 0;
    for (int i = 0; i < c.S; ++i) serving = serving && s.proc[i].up && s.proc[i].serving == s.l.tl;
    if (serving) {
      if (s.l.base && s.l.complete.at[s.l.complete.n - 1] == s.l.base) { int tok = -1; for (int i = 0; i < c.S; ++i) { int k = s.disk[i].find(s.l.base); if (k < 0) { bad = "B a shard serves without the base"; continue; } if (tok >= 0 && s.disk[i].token[k] != tok) bad = "B shards serve different bases"; tok = s.disk[i].token[k]; } }
      for (int k = 0; k < s.l.complete.n; ++k) if (s.l.complete.at[k]) for (int i = 0; i < c.S; ++i) if (s.disk[i].find(s.l.complete.at[k]) < 0) bad = "D listed and not held";
      Id last = std::max(s.l.complete.at[s.l.complete.n - 1], Id(0)); int st = std::max(last % 4, s.l.base % 4) + 1;
      if (s.step < c.steps && st <= 3) {
        State t = s; Id n = id(s.l.tl, st); List<5> keep; for (int k = 0; k < s.l.complete.n; ++k) { Id i = s.l.complete.at[k]; if (i && (i == s.l.named || i == s.l.copied)) keep.add(i); } keep.add(n);
        t.l.complete = keep;
        for (int i = 0; i < c.S; ++i) { t.disk[i].keep([&](Id x) { return keep.has(x); }); t.disk[i].put(n, s.token); t.h[i].held = {}; t.h[i].held.add(0); for (int k = 0; k < keep.n; ++k) t.h[i].held.add(keep.at[k]); }
        ++t.step; t.had = 1; put(false, t);
      }
      Id newest = s.l.complete.at[s.l.complete.n - 1];
      if (!s.l.named && newest && newest > s.l.copied && !(c.stranger && s.l.copied == 0)) { State t = s; t.l.named = newest; put(false, t); }
      const Set* x = s.l.named ? set(s, s.l.named) : nullptr;
      if (x && whole(*x)) {
        State t = s; t.l.copied = s.l.named; t.l.named = 0; int newer = 0;
        for (int k = t.sets; k-- > 0;) { auto y = t.set[k]; if (y.i > s.l.named) continue; if (whole(y)) { if (++newer > 2) drop_set(t, k); } else if (y.i < s.l.named) drop_set(t, k); }
        put(false, t);
      }
    }
    if (s.l.there && s.l.named) for (int i = 0; i < c.S; ++i) if (s.proc[i].up && s.proc[i].serving == s.l.tl) {
      int k = s.disk[i].find(s.l.named); if (k < 0) continue; const Set* x = set(s, s.l.named); if (x && (x->parts >> i & 1)) continue;
      State t = s; if (!x) put_set(t, {s.l.named, s.disk[i].token[k], uint8_t(1 << i), 0, 0}); else for (int j = 0; j < t.sets; ++j) if (t.set[j].i == s.l.named) { t.set[j].parts |= uint8_t(1 << i); if (t.set[j].token != s.disk[i].token[k]) t.set[j].token = 255; }
      put(false, t);
    }
    for (int i = 0; i < c.S; ++i) {
      if (s.proc[i].up && s.k) { State t = s; t.proc[i] = {}; t.h[i] = {}; if (i == 0) { t.lead = 0; for (auto& h : t.h) h = {}; } --t.k; put(true, t); }
      bool has = s.disk[i].tl || s.disk[i].n || s.disk[i].partial || (i == 0 && s.l.there);
      if (!s.proc[i].up && s.w && has) { State t = s; t.disk[i] = {}; if (i == 0) t.l = {}; --t.w; put(true, t); }
    }
    if (s.d) for (int k = 0; k < s.sets; ++k) for (int i = 0; i < c.S; ++i) if ((s.set[k].parts >> i & 1) && !(s.set[k].damaged >> i & 1)) { State t = s; t.set[k].damaged |= uint8_t(1 << i); --t.d; put(true, t); }
    for (int i = 1; i < c.S; ++i) if (!s.proc[i].up) { State t = s; t.proc[i].up = 1; put(false, t); }
    if (!s.proc[0].up) {
      State t = s; t.proc[0].up = 1; t.lead = 1; for (auto& h : t.h) h = {};
      if (s.l.there) put(false, t);
      else {
        int best = -1; bool any = false; bool first = true; for (int k = 0; k < s.sets; ++k) any = any || s.set[k].token != 254;
        for (int k = s.sets; k-- > 0;) if (whole(s.set[k]) && s.set[k].token != 254) { if (best < 0 && (first || on[next_older]) && !(s.set[k].damaged & 1)) best = k; first = false; }
        if (!any) { t.l = {}; t.l.there = 1; put(false, t); }
        else if (best >= 0) {
          int known = s.mark; for (int k = 0; k < s.sets; ++k) known = std::max(known, s.set[k].i / 4);
          int number = known + (on[jump] ? 100 : 0);
          if (on[mark] && s.mark < 400) { State u = s; u.mark = uint16_t(number); put(false, u); }  // killed after it, or it goes on:
          t.mark = on[mark] ? uint16_t(number) : s.mark;
          t.l = {}; t.l.there = 1; t.l.tl = uint16_t(number); t.l.base = s.set[best].i; t.l.complete.add(s.set[best].i); t.l.copied = s.set[best].i; put(false, t);
        }
      }
    }
    if (s.lead) {
      for (int i = 0; i < c.S; ++i) if (s.proc[i].up) hello(s, i);
      bool here = s.l.tl > 0 && s.l.listed; for (int i = 0; i < c.S; ++i) here = here && s.h[i].there;
      if (here) for (int i = 0; i < c.S; ++i) {
        const auto& p = s.proc[i]; Id base = s.l.base; if (!p.up || p.serving == s.l.tl || p.lost.has(base)) continue;
        State t = s; const auto& x = s.disk[i];
        if (base == 0 || x.find(base) >= 0 || (!on[seal] && x.partial == base)) { t.proc[i].serving = s.l.tl; t.disk[i].tl = s.l.tl; t.disk[i].partial = 0; bool every = true; for (int j = 0; j < c.S; ++j) every = every && t.proc[j].up && t.proc[j].serving == s.l.tl; if (every) t.used.add(s.l.tl); put(false, t); continue; }
        const Set* y = set(s, base);
        if (x.partial != base) { t.disk[i].tl = std::max(x.tl, s.l.tl); t.disk[i].partial = base; put(false, t); }
        else if (!y || !(y->parts >> i & 1) || (y->damaged >> i & 1)) { t.proc[i].lost.add(base); t.disk[i].partial = 0; put(false, t); }
        else { t.disk[i].put(base, y->token); t.disk[i].partial = 0; put(false, t); }
      }
    }
  }
  void show(const State& s) const {
    auto n = [](Id i) { return std::to_string(i / 4) + "/" + std::to_string(i % 4); };
    std::string t = s.l.there ? "ledger " + std::to_string(s.l.tl) + " base " + n(s.l.base) + " complete" : "no ledger"; for (int k = 0; k < s.l.complete.n; ++k) t += " " + n(s.l.complete.at[k]); t += " named " + n(s.l.named) + " copied " + n(s.l.copied) + (s.l.listed ? "" : " unlisted") + (s.lead ? " lead" : "");
    for (int i = 0; i < c.S; ++i) { t += " | " + std::to_string(i) + (s.proc[i].up ? " up serves " + std::to_string(s.proc[i].serving) : " down") + " disk tl " + std::to_string(s.disk[i].tl); for (int k = 0; k < s.disk[i].n; ++k) t += " " + n(s.disk[i].ids[k]) + "#" + std::to_string(s.disk[i].token[k]); if (s.disk[i].partial) t += " half " + n(s.disk[i].partial); if (s.h[i].there) t += " hello " + std::to_string(s.h[i].tl); for (int k = 0; k < s.proc[i].lost.n; ++k) t += " lost " + n(s.proc[i].lost.at[k]); }
    t += " | place"; for (int k = 0; k < s.sets; ++k) t += " " + n(s.set[k].i) + "#" + std::to_string(s.set[k].token) + " parts " + std::to_string(s.set[k].parts) + " damaged " + std::to_string(s.set[k].damaged); t += " mark " + std::to_string(s.mark);
    std::printf("  %s\n", t.c_str());
  }
  Found explore(size_t limit) {
    State start; std::memset(static_cast<void*>(&start), 0, sizeof start); start.k = uint8_t(c.kills); start.w = uint8_t(c.wipes); start.d = uint8_t(c.damages); start.token = 1;
    if (c.stranger) { start.sets = 1; start.set[0] = {id(1, 1), 254, uint8_t(all()), 0, 0}; }
    std::unordered_map<State, uint32_t, Hash> seen; std::vector<const State*> order; std::vector<uint32_t> parent; std::vector<std::vector<uint32_t>> back; Found f; std::deque<uint32_t> q;
    uint32_t now = 0; auto add = [&](const State& s) { auto [it, fresh] = seen.try_emplace(s, uint32_t(order.size())); if (fresh) { order.push_back(&it->first); back.emplace_back(); parent.push_back(now); q.push_back(it->second); } return it->second; };
    add(start);
    while (!q.empty()) {
      auto n = q.front(); q.pop_front(); now = n; const State s = *order[n]; moves(s);
      if (!bad.empty()) { f.bad = bad; if (std::getenv("TRACE")) { std::vector<uint32_t> path; for (auto k = n;; k = parent[k]) { path.push_back(k); if (k == 0) break; } for (auto k = path.rbegin(); k != path.rend(); ++k) show(*order[*k]); } break; }
      for (auto& [fault, t] : out) { if (seen.size() >= limit && !seen.contains(t)) { f.full = false; continue; } auto j = add(t); if (!fault) back[j].push_back(n); }
    }
    f.states = order.size();
    if (!f.bad.empty() || !f.full) return f;
    std::vector<char> good(order.size()); std::deque<uint32_t> g;
    for (uint32_t i = 0; i < order.size(); ++i) { const auto& s = *order[i]; bool v = s.l.there && s.l.tl > 0; for (int j = 0; j < c.S; ++j) v = v && s.proc[j].up && s.proc[j].serving == s.l.tl; if (v) { good[i] = 1; g.push_back(i); } }
    while (!g.empty()) { auto j = g.front(); g.pop_front(); for (auto i : back[j]) if (!good[i]) { good[i] = 1; g.push_back(i); } }
    for (uint32_t i = 0; i < order.size(); ++i) {
      const auto& s = *order[i]; bool may = false;
      for (int k = 0; k < s.sets; ++k) if (whole(s.set[k]) && !s.set[k].damaged && s.set[k].token != 254) may = may || !s.l.there || (s.l.tl > 0 && s.l.copied && s.set[k].i <= std::max(s.l.named, s.l.copied));
      bool fine = s.l.there && s.l.tl > 0; for (int j = 0; j < c.S; ++j) { Id n = fine ? s.l.complete.at[s.l.complete.n - 1] : Id(0); fine = fine && (n == 0 || s.disk[j].find(n) >= 0); }
      if ((may || fine) && !good[i]) ++f.stuck;
    }
    return f;
  }
};
int main(int argc, char** argv) {
  std::string what = argc > 1 ? argv[1] : "rules"; size_t limit = argc > 2 ? std::stoul(argv[2]) : 3'000'000;
  std::vector<Config> conf = {{2, 2, 1, 0, 1, false}, {2, 2, 2, 0, 1, false}, {2, 2, 1, 1, 2, false}, {2, 2, 2, 1, 2, false}, {2, 3, 2, 0, 2, false}, {2, 3, 3, 1, 2, false}, {2, 3, 2, 2, 3, false}, {3, 3, 3, 0, 1, false}, {2, 2, 1, 0, 2, true}};
  auto show = [](const Config& k) { return "shards " + std::to_string(k.S) + " kills " + std::to_string(k.kills) + " lost disks " + std::to_string(k.wipes) + " damages " + std::to_string(k.damages) + " snapshots " + std::to_string(k.steps) + (k.stranger ? " stranger" : ""); };
  if (what == "rules") for (auto& k : conf) { Model m{k, {}, {}, {}}; std::fill(m.on, m.on + rules, true); auto f = m.explore(limit); std::printf("%s: %zu states%s, %s, stuck %zu\n", show(k).c_str(), f.states, f.full ? "" : " (not all)", f.bad.empty() ? "no violation" : f.bad.c_str(), f.stuck); std::fflush(stdout); }
  else for (int r = 0; r < rules; ++r) { std::string found = "nothing"; for (auto& k : conf) { Model m{k, {}, {}, {}}; std::fill(m.on, m.on + rules, true); m.on[r] = false; auto f = m.explore(limit / 4); if (!f.bad.empty() || f.stuck) { found = (f.bad.empty() ? "stuck " + std::to_string(f.stuck) : f.bad) + " (" + show(k) + ")"; break; } } std::printf("without %s: %s\n", kRules[r], found.c_str()); std::fflush(stdout); }
}

// SPDX-License-Identifier: Apache-2.0
// The credential cache's protocol for one key (docs/cache.md), and four ways to get it wrong.
//
//   NO_NAME_CHECK     who gets the lock does not look whether its file still has its name
//   WRITE_IN_PLACE    the entry is written where it is read
//   NO_FAILURE_ENTRY  a failure is not told to the others
//   NO_RECHECK        what happened while one waited for the lock is not looked at
//
// RUNS processes run once each. Any KILLS of them are killed, at any step; any GIVE_UPS do not wait
// for the lock any longer. The provider answers, is unavailable, or refuses, as it likes. Time
// passes as it likes: AGEINGS entries come into their refresh window, and perhaps end there;
// WINDOWS windows of a failing provider pass. One who tidies takes the lock and removes its file
// REMOVALS times, whenever it is free.
//
// What must hold: nobody reads half an entry; nobody waits for ever; an error is only what the
// provider said; who holds a good credential keeps it while the provider is down; and the provider
// gets one call for each thing that asks for one (`due`), and one more for each process that was
// killed or gave up.

#ifndef RUNS
#define RUNS 4
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef GIVE_UPS
#define GIVE_UPS 1
#endif
#ifndef AGEINGS
#define AGEINGS 1
#endif
#ifndef WINDOWS
#define WINDOWS 1
#endif
#ifndef REMOVALS
#define REMOVALS 0
#endif
#define INODES 8

mtype = { absent, fresh, ending, torn }

mtype entry = absent     // what the entry's name leads to
byte entry_id = 0
bool pending = false     // a failure that forbids to ask
byte lock_inode = 1      // what the lock's name leads to; 0: there is no file
byte inodes = 1
byte holder[INODES]      // who has the flock of an inode

byte calls = 0
byte due = 1             // the first one is
byte killed = 0
byte gave_up = 0
bool has_failed = false
byte ageings = 0
byte windows = 0
byte removals = 0
int doubted = 0          // entries that a client asked for again: a bit each

#define is_good(e) (e == fresh || e == ending)

// A process ends here, and the kernel gives its lock back. Where it has changed nothing yet, it is
// as if it had not begun.
#define MAY_BE_KILLED \
  if \
  :: killed < KILLS -> atomic { killed++; UNHOLD; goto over } \
  :: true \
  fi

#define UNHOLD if :: my != 0 && holder[my] == _pid -> holder[my] = 0 :: else fi

inline open_lock() {
  d_step {
    if
    :: lock_inode == 0 -> inodes++; lock_inode = inodes
    :: else
    fi;
    my = lock_inode
  }
}

// With the lock, nobody else can change whether its file has the name.
#ifdef NO_NAME_CHECK
#define HAS_NAME true
#else
#define HAS_NAME lock_inode == my
#endif

inline unlock() {
  atomic { UNHOLD }
}

inline look() {
  d_step { seen = entry; seen_id = entry_id; assert(seen != torn) }
}

inline call_provider() {
  atomic {
    seen_id = 0;
    was_pending = false;
    calls++;
    assert(calls <= due + killed + gave_up)
  };
  MAY_BE_KILLED
}

// A temporary file is written under another name, which nobody reads, and then renamed.
inline store() {
#ifdef WRITE_IN_PLACE
  entry = torn;
  MAY_BE_KILLED;
#endif
  atomic { entry = fresh; entry_id++ };
  MAY_BE_KILLED;
  // Who has no lock might remove a newer failure.
  if
  :: my != 0 -> pending = false
  :: else
  fi
}

inline record() {
  has_failed = true;
#ifndef NO_FAILURE_ENTRY
  pending = true
#endif
}

proctype Run() {
  mtype seen;
  byte seen_id;
  byte first_id;
  byte my = 0;
  bool was_pending = false;
  bool has_retried = false;

again:
  atomic {
    look();
    if
    :: seen == fresh -> goto served
    :: seen == fresh -> goto doubt    // the client asks again
    :: seen == ending -> goto refresh
    :: seen == absent -> goto obtain
    fi
  };

refresh:
  open_lock();
  if
  :: atomic { holder[my] == 0 && HAS_NAME -> holder[my] = _pid }
  :: atomic { holder[my] == 0 && !(HAS_NAME) -> goto refresh }
  :: atomic { holder[my] != 0 -> goto served }   // another refreshes; this one is still good
  fi;
#ifndef NO_RECHECK
  was_pending = pending;
  atomic {
    look();
    if
    :: seen == fresh || was_pending -> goto give_back
    :: else
    fi
  };
#endif
  call_provider();
  if
  :: store()
  :: record()                         // served although it failed
  fi;
  goto give_back;

doubt:
  open_lock();
  if
  :: atomic { holder[my] == 0 && HAS_NAME -> holder[my] = _pid }
  :: atomic { holder[my] == 0 && !(HAS_NAME) -> goto doubt }
  :: atomic { holder[my] != 0 -> goto served }
  fi;
  was_pending = pending;
  first_id = seen_id;
  atomic {
    look();
    if
    :: !is_good(seen) -> goto vanished
    :: is_good(seen) && (seen_id != first_id || was_pending) -> goto give_back
    :: is_good(seen) && seen_id == first_id && !was_pending ->
       if
       :: (doubted & (1 << seen_id)) == 0 -> doubted = doubted | (1 << seen_id); due++
       :: else
       fi
    fi;
    first_id = 0
  };
  call_provider();
  if
  :: store(); goto give_back
  :: record(); goto give_back         // unavailable: the entry is served
  :: record();                        // refused: it is served to nobody
     MAY_BE_KILLED;
     entry = absent;
     unlock();
     goto failed
  fi;

vanished:
  unlock();
obtain:
  atomic {
    look();
    if
    :: is_good(seen) -> goto served
    :: else -> seen_id = 0; first_id = 0
    fi
  };
  if
  :: pending -> goto failed
  :: !pending
  fi;
wait:
  open_lock();
  do
  :: atomic { holder[my] == 0 && HAS_NAME -> holder[my] = _pid; break }
  :: atomic { holder[my] == 0 && !(HAS_NAME) -> goto wait }
  :: atomic { is_good(entry) -> goto served }
  :: atomic { pending -> goto failed }
  :: atomic { holder[my] != 0 && gave_up < GIVE_UPS -> gave_up++; my = 0; break }
  od;
#ifndef NO_RECHECK
  // The failure first: who gave up may store an entry and then remove the failure meanwhile.
  if
  :: pending -> unlock(); goto failed
  :: !pending
  fi;
  atomic {
    look();
    if
    :: is_good(seen) -> goto give_back
    :: else
    fi
  };
#endif
  call_provider();
  if
  :: store(); goto give_back
  :: record(); unlock(); goto failed
  fi;

give_back:
  unlock();
served:
  goto over;

failed:
  assert(has_failed);
  if
  :: !has_retried -> has_retried = true;
end_window:
     !pending -> goto again           // it waits for the window to pass
  :: true
  fi;

over:
  atomic { seen = absent; seen_id = 0; first_id = 0; my = 0; was_pending = false }
}

// The clock.
active proctype Time() {
end_time:
  do
  :: atomic { entry == fresh && ageings < AGEINGS -> ageings++; entry = ending; due++ }
  :: atomic { entry == ending -> entry = absent }
  :: atomic { pending && windows < WINDOWS -> windows++; pending = false; due++ }
  od
}

// One who writes another entry and finds nothing that this key's lock is for.
active proctype Tidy() {
  byte my;
end_tidy:
  do
  :: atomic { removals < REMOVALS && lock_inode != 0 && holder[lock_inode] == 0 ->
       removals++;
       my = lock_inode;
       holder[my] = _pid
     };
     lock_inode = 0;
     atomic { holder[my] = 0; my = 0 }
  od
}

init {
  byte i;
  atomic {
    for (i : 1 .. RUNS) { run Run() }
  }
}

/** A shell script, and the name that its processes have, and no others. */
export interface Bomb {
  readonly script: string;
  readonly name: string;
}

/**
 * Processes that ignore every signal that can be ignored, in sessions of their own, with no variables and no open files. They print `ready`,
 * and sleep or do what `body` says.
 */
export function stubbornBomb(processes: number, body = 'select undef, undef, undef, 0.2'): Bomb {
  return named(`exec env -i perl -MPOSIX -e '
  $0 = "NAME"; $SIG{$_} = "IGNORE" for qw(TERM INT HUP);
  for (1..${processes}) { if (!fork) { POSIX::setsid(); if (fork) { exit } POSIX::close($_) for 0..9; last } }
  $| = 1; print "ready\\n"; for (;;) { ${body} }'`);
}

/** Forks for ever, each process in a session of its own. */
export function forkBomb(): Bomb {
  return named(`perl -MPOSIX -e '
  $0 = "NAME";
  for (;;) { my $p = fork; if (!defined $p) { select undef, undef, undef, 0.01 } elsif (!$p) { POSIX::setsid() } }'`);
}

function named(script: string): Bomb {
  const name = `bomb-${process.pid}-${Math.random().toString(36).slice(2)}`;
  return { script: script.replace('NAME', name), name };
}

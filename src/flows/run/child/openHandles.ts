const WORDS: Readonly<Record<string, string>> = {
  Timeout: 'a timer',
  Immediate: 'a timer',
  TCPServerWrap: 'a listening server',
  TCPSocketWrap: 'an open connection',
  TLSWrap: 'an open connection',
  UDPWrap: 'an open socket',
  ProcessWrap: 'a child process',
  FSEventWrap: 'a file watcher',
  StatWatcher: 'a file watcher',
  MessagePort: 'a worker thread',
  Worker: 'a worker thread',
  SignalWrap: 'a signal listener',
};
// The standard streams, which close with the process.
const OWN = new Set(['PipeWrap', 'TTYWrap']);

/** The open handles that keep this process alive: `a timer, 2 open connections`. */
export function openHandles(): string {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) {
    if (OWN.has(type)) continue;
    const word = WORDS[type] ?? type;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const parts = [...counts].map(([word, count]) => (count === 1 ? word : `${count} ${word.replace(/^an? /, '')}s`));
  return parts.join(', ') || 'something that Node does not name';
}

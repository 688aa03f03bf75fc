// Ctrl-C: what is under way is finished and the stores are closed; a second one ends the process at once.

/** In place of the handlers of bin/start.cjs, which just end the process. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.removeAllListeners(name).once(name, () => stop.abort())
  }
  return stop.signal
}

// Ctrl-C: what is under way is finished and the stores are closed; a second one ends the process at once.

export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  return stop.signal
}

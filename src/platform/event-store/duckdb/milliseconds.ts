// Instants of rows on their way out, cut to the precision of a Date.

/** Milliseconds since 1970, cut towards the past: `epoch_ms` cuts towards 1970, and so leaves out what is before. */
export function milliseconds(time: string): string {
  const micros = `epoch_us(${time})`
  return `((${micros} - (${micros} % 1000 + 1000) % 1000) // 1000)`
}

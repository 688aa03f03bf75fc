// JSON text that databases take: PostgreSQL's jsonb refuses `\u0000` and half a surrogate pair. Stored events hold
// neither, but an expression of the user's may make them.

// One escape at a time, so that the second half of `\\` begins none: pairs and all others stay as they are.
const ESCAPE =
  /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})|\\./gs
const REMOVED = /^\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})$/

export function withoutRefused(json: string): string {
  return json.replaceAll(ESCAPE, (escape) => (REMOVED.test(escape) ? '' : escape))
}

/** Redshift keeps 65,535 bytes at most: blanks between values go, those within texts stay. */
export function withoutBlanks(json: string): string {
  return json.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"|\s+/gs, (found) => (found.startsWith('"') ? found : ''))
}

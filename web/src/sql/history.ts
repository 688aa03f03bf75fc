// Queries that were run in this browser, for one person and project, newest first.

export type Past = { text: string; at: string; rows: number | null; ms: number }

const MOST = 100
const MOST_CHARACTERS = 400_000

export const historyKey = (userId: string, projectId: string): string => `sql-history:${userId}:${projectId}`

export function readHistory(key: string): readonly Past[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isPast) : []
  } catch {
    return []
  }
}

/** A query run again moves to the top. */
export function withPast(history: readonly Past[], past: Past): readonly Past[] {
  const kept = [past, ...history.filter(({ text }) => text !== past.text)].slice(0, MOST)
  let room = MOST_CHARACTERS
  return kept.filter(({ text }) => (room -= text.length) >= 0)
}

export function remember(key: string, past: Past): void {
  try {
    localStorage.setItem(key, JSON.stringify(withPast(readHistory(key), past)))
  } catch {
    // The browser keeps nothing: then there is no history.
  }
}

export const forget = (key: string): void => localStorage.removeItem(key)

function isPast(value: unknown): value is Past {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Past).text === 'string' &&
    typeof (value as Past).at === 'string'
  )
}

/**
 * Rows of pages that follow each other, each once. A list with the newest first grows at its start while somebody scrolls, so a
 * later page begins with rows that the one before ended with. The newer answer about a row counts.
 */
export function distinctRows<Row>(
  pages: readonly { results: readonly Row[] }[],
  keyOf: (row: Row) => string | number,
): Row[] {
  const rows = pages.flatMap(({ results }) => results)
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()]
}

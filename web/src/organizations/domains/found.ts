type Found = { finding: 'published' | 'absent' | 'unknown'; values: readonly string[] }

/** What the name server said, and what to do about it. */
export function foundText({ finding, values }: Found): string {
  if (finding === 'published') return 'The record is there.'
  if (finding === 'unknown')
    return 'The name server of this installation did not answer, so nothing was found out. Try again later.'
  if (values.length === 0)
    return 'There is no such record yet. If you have just added it, wait a few minutes and check again.'
  return values.length === 1
    ? 'There is such a record, but with another value:'
    : 'There are such records, but with other values:'
}

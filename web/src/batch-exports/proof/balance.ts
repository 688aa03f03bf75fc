// The account of an export as lengths that add up, and whether they do. Pure.

export type Counts = {
  received: number | null
  exported: number
  filtered_out: number | null
  pending: number | null
  skipped: number | null
}

export const PARTS = ['exported', 'filtered_out', 'skipped', 'pending'] as const
export type PartName = (typeof PARTS)[number]

export const PART_NAMES: Record<PartName, string> = {
  exported: 'exported',
  filtered_out: 'filtered',
  skipped: 'skipped',
  pending: 'pending',
}

export type Part = { name: PartName; rows: number; share: number }
export type Balance = {
  received: number
  parts: readonly Part[]
  /** Received, less all parts: above 0 for events that no part has, below 0 for rows that no event has. */
  difference: number
  addsUp: boolean
}

/** Null for models that are no stream of events: of those only what went out is known. */
export function balanceOf(counts: Counts): Balance | null {
  const { received } = counts
  if (received === null) return null
  const rows = PARTS.map((name) => ({ name, rows: counts[name] ?? 0 }))
  // A part below 0 stands for rows that are counted twice elsewhere.
  const sum = rows.reduce((total, part) => total + Math.max(0, part.rows), 0)
  const whole = Math.max(received, sum)
  const difference = received - sum
  return {
    received,
    parts: rows.map((part) => ({ ...part, share: whole === 0 ? 0 : Math.max(0, part.rows) / whole })),
    difference,
    addsUp: difference === 0 && rows.every((part) => part.rows >= 0),
  }
}

/** What is not at the destination, though it should be. */
export const missingIn = ({ pending, skipped }: Pick<Counts, 'pending' | 'skipped'>): number =>
  (pending ?? 0) + (skipped ?? 0)

export function sumOf(accounts: readonly Counts[]): Counts {
  const add = (name: keyof Counts) =>
    accounts.reduce<number | null>(
      (sum, each) => (each[name] === null || sum === null ? null : sum + each[name]),
      0,
    )
  return {
    received: add('received'),
    exported: add('exported') ?? 0,
    filtered_out: add('filtered_out'),
    pending: add('pending'),
    skipped: add('skipped'),
  }
}

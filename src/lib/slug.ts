// A URL-safe name made from a human one.

/** Lower case, ASCII-folded, everything else turned into single dashes; may be empty. */
export function slugify(name: string, maxLength: number): string {
  return name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxLength)
    .replace(/^-+|-+$/g, '')
}

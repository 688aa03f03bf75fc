// A URL-safe name made from a human one.

// Letters that Unicode does not take apart into a base letter and an accent.
const FOLDED: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ŋ: 'n',
  þ: 'th',
  ŧ: 't',
}

/** Lower case, ASCII-folded, everything else turned into single dashes; may be empty. */
export function slugify(name: string, maxLength: number): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, (letter) => FOLDED[letter] ?? '-')
    .replace(/-+/g, '-')
    .replace(/^-/, '')
    .slice(0, maxLength)
    .replace(/-$/, '')
}

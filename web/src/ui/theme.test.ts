// What the tokens promise: text and shapes that can be read, in both themes.
import { describe, expect, it } from 'vitest'
import { COLORS, MOTION, SIZES } from './theme.ts'

function luminance(color: string): number {
  const [r, g, b] = [1, 3, 5]
    .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
}

function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (light! + 0.05) / (dark! + 0.05)
}

describe.each(['light', 'dark'] as const)('%s', (name) => {
  const colors = COLORS[name]
  const grounds = ['page', 'raised', 'selected'] as const
  const texts = [
    'text',
    'quiet',
    'accent',
    'delivered',
    'running',
    'waiting',
    'held',
    'failed',
    'skipped',
  ] as const

  it.each(grounds.flatMap((ground) => texts.map((text) => [text, ground] as const)))(
    '%s on %s can be read',
    (text, ground) => {
      expect(contrast(colors[text], colors[ground])).toBeGreaterThanOrEqual(4.5)
    },
  )

  it.each(['added', 'removed'] as const)('text on what was %s can be read', (ground) => {
    expect(contrast(colors.text, colors[ground])).toBeGreaterThanOrEqual(4.5)
  })

  it.each(['code-word', 'code-text', 'code-number', 'code-name'] as const)(
    '%s can be read in an editor',
    (text) => {
      for (const ground of ['page', 'raised', 'marked', 'selected'] as const)
        expect(contrast(colors[text], colors[ground])).toBeGreaterThanOrEqual(4.5)
    },
  )

  it('every series of a chart can be seen', () => {
    for (const [name, color] of Object.entries(colors))
      if (name.startsWith('series-')) expect(contrast(color, colors.page), name).toBeGreaterThanOrEqual(3)
  })

  it('the edge of a control can be seen', () => {
    expect(contrast(colors.edge, colors.page)).toBeGreaterThanOrEqual(3)
  })
})

it('no name stands for two things', () => {
  const names = [...Object.keys(COLORS.light), ...Object.keys(SIZES), ...Object.keys(MOTION)]
  expect(new Set(names).size).toBe(names.length)
  expect(Object.keys(COLORS.dark)).toEqual(Object.keys(COLORS.light))
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ApiError } from './errors.ts'
import { bool, email, instant, int, intChoice, text, verbatim } from './fields.ts'
import { validate } from './validate.ts'

/** What a field makes of a value: the value itself, or the code it is refused with. */
function outcome(field: z.ZodType, value: unknown): unknown {
  try {
    return { is: validate(z.object({ field }), value === undefined ? {} : { field: value }).field }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    expect(error.attr).toBe('field')
    expect(error.detail).toMatch(/^[A-Z].*\.$/)
    return error.code
  }
}

const cases = (field: z.ZodType, table: [value: unknown, expected: unknown][]) =>
  it.each(table)('%j → %j', (value, expected) => expect(outcome(field, value)).toEqual(expected))

describe('text', () => {
  cases(text({ max: 5 }), [
    ['abc', { is: 'abc' }],
    ['  abc\t', { is: 'abc' }],
    ['abcde', { is: 'abcde' }],
    ['  abcde  ', { is: 'abcde' }],
    ['abcdef', 'max_length'],
    ['', 'blank'],
    ['   ', 'blank'],
    [null, 'null'],
    [undefined, 'required'],
    [5, 'invalid_input'],
    [true, 'invalid_input'],
    [['abc'], 'invalid_input'],
    [{ a: 1 }, 'invalid_input'],
    ['😀😀😀😀😀', { is: '😀😀😀😀😀' }],
    ['😀😀😀😀😀😀', 'max_length'],
    ['x'.repeat(100_000), 'max_length'],
  ])

  describe('that may be blank', () => {
    cases(text({ max: 5, blank: true }), [
      ['', { is: '' }],
      ['  ', { is: '' }],
      ['abcdef', 'max_length'],
      [null, 'null'],
    ])
  })

  it('says its limits in the document', () => {
    expect(z.toJSONSchema(text({ max: 5 }), { io: 'input' })).toMatchObject({
      type: 'string',
      maxLength: 5,
      minLength: 1,
    })
  })

  it('counts as JSON Schema does, for any text', () => {
    const field = text({ max: 8, blank: true })
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 12 }), (value) => {
        expect(field.safeParse(value).success).toBe([...value.trim()].length <= 8)
      }),
    )
  })
})

describe('verbatim', () => {
  cases(verbatim({ max: 5 }), [
    [' a ', { is: ' a ' }],
    ['   ', { is: '   ' }],
    ['', 'blank'],
    ['abcdef', 'max_length'],
    [null, 'null'],
  ])
})

describe('int', () => {
  cases(int(), [
    [5, { is: 5 }],
    ['5', { is: 5 }],
    [' -12 ', { is: -12 }],
    ['+7', { is: 7 }],
    [2 ** 31 - 1, { is: 2 ** 31 - 1 }],
    [2 ** 31, 'max_value'],
    [-(2 ** 31) - 1, 'min_value'],
    ['99999999999999999999', 'invalid_input'],
    [1.5, 'invalid_input'],
    ['1.5', 'invalid_input'],
    ['0x10', 'invalid_input'],
    ['1e3', 'invalid_input'],
    ['', 'invalid_input'],
    ['five', 'invalid_input'],
    [true, 'invalid_input'],
    [['7'], 'invalid_input'],
    [null, 'null'],
    [undefined, 'required'],
  ])

  describe('within bounds', () => {
    cases(int({ min: 1, max: 10 }), [
      [0, 'min_value'],
      [1, { is: 1 }],
      ['10', { is: 10 }],
      [11, 'max_value'],
    ])
  })
})

describe('bool', () => {
  cases(bool(), [
    [true, { is: true }],
    [false, { is: false }],
    ['true', { is: true }],
    ['false', { is: false }],
    ['True', { is: true }],
    ['False', { is: false }],
    [1, { is: true }],
    [0, { is: false }],
    ['1', { is: true }],
    ['0', { is: false }],
    [2, 'invalid_input'],
    ['yes', 'invalid_input'],
    ['', 'invalid_input'],
    [[], 'invalid_input'],
    [null, 'null'],
    [undefined, 'required'],
  ])
})

describe('intChoice', () => {
  cases(intChoice([1, 8, 15]), [
    [1, { is: 1 }],
    ['8', { is: 8 }],
    [' 15 ', { is: 15 }],
    [2, 'invalid_choice'],
    ['2', 'invalid_choice'],
    ['owner', 'invalid_choice'],
    [1.5, 'invalid_choice'],
    [true, 'invalid_choice'],
    [[1], 'invalid_choice'],
    [null, 'null'],
    [undefined, 'required'],
  ])
})

describe('email', () => {
  cases(email(), [
    ['ada@example.com', { is: 'ada@example.com' }],
    ['  ada@example.com ', { is: 'ada@example.com' }],
    ['Ada.Lovelace+test@Example.COM', { is: 'Ada.Lovelace+test@example.com' }],
    ["o'hara@example.com", { is: "o'hara@example.com" }],
    ['ada@bücher.example', { is: 'ada@bücher.example' }],
    ['ada@xn--bcher-kva.example', { is: 'ada@xn--bcher-kva.example' }],
    [`${'a'.repeat(64)}@example.com`, { is: `${'a'.repeat(64)}@example.com` }],
    [`${'a'.repeat(65)}@example.com`, 'invalid_input'],
    [`a@${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}.com`, 'max_length'],
    ['', 'blank'],
    ['  ', 'blank'],
    ['ada', 'invalid_input'],
    ['ada@', 'invalid_input'],
    ['@example.com', 'invalid_input'],
    ['ada@example', 'invalid_input'],
    ['ada@-example.com', 'invalid_input'],
    ['ada@example-.com', 'invalid_input'],
    ['ada@exam ple.com', 'invalid_input'],
    ['ada@@example.com', 'invalid_input'],
    ['ada@example.com, eve@example.com', 'invalid_input'],
    ['ada@example.com\r\nBcc: eve@example.com', 'invalid_input'],
    ['<ada@example.com>', 'invalid_input'],
    ['"ada"@example.com', 'invalid_input'],
    [5, 'invalid_input'],
    [null, 'null'],
    [undefined, 'required'],
  ])

  it('answers a megabyte of hostile text at once', () => {
    for (const hostile of [
      'a@' + 'a.'.repeat(500_000),
      'a@' + 'a-'.repeat(500_000),
      '@'.repeat(1_000_000),
      ' '.repeat(1_000_000),
    ]) {
      const began = performance.now()
      expect(outcome(email(), hostile)).toMatch(/^(blank|invalid_input|max_length)$/)
      expect(performance.now() - began).toBeLessThan(2000)
    }
  })
})

describe('instant', () => {
  cases(instant(), [
    ['2024-05-06T07:08:09Z', { is: new Date('2024-05-06T07:08:09Z') }],
    ['2024-05-06', { is: new Date('2024-05-06T00:00:00Z') }],
    ['2024-02-30', 'invalid_input'],
    ['soon', 'invalid_input'],
    ['', 'invalid_input'],
    [1714979289, 'invalid_input'],
    [null, 'null'],
    [undefined, 'required'],
  ])
})

describe('validate', () => {
  const Schema = z.object({
    first: text({ max: 3 }),
    second: z
      .array(z.object({ name: text({ max: 3 }) }))
      .min(1)
      .max(2),
    third: z.object({ inner: z.enum(['a', 'b']) }),
  })
  const good = { first: 'a', second: [{ name: 'b' }], third: { inner: 'a' } }
  const refusal = (value: unknown) => {
    try {
      return validate(Schema, value)
    } catch (error) {
      return error instanceof ApiError ? [error.code, error.attr, error.status] : error
    }
  }

  it('gives the value back without fields that nobody asked for', () => {
    expect(refusal({ ...good, is_staff: true })).toEqual(good)
  })

  it.each([
    [
      'the first fault in the order of the fields',
      { third: { inner: 'z' }, second: [], first: '' },
      ['blank', 'first', 400],
    ],
    [
      'nested names joined by two underscores',
      { ...good, third: { inner: 'z' } },
      ['invalid_choice', 'third__inner', 400],
    ],
    [
      'the place in a list',
      { ...good, second: [{ name: 'b' }, { name: 'long' }] },
      ['max_length', 'second__1__name', 400],
    ],
    ['a missing field in a list', { ...good, second: [{}] }, ['required', 'second__0__name', 400]],
    ['null in a list', { ...good, second: [null] }, ['null', 'second__0', 400]],
    ['an empty list', { ...good, second: [] }, ['empty', 'second', 400]],
    [
      'too long a list',
      { ...good, second: [{}, {}, {}].map(() => ({ name: 'b' })) },
      ['max_length', 'second', 400],
    ],
    ['no list', { ...good, second: 'b' }, ['not_a_list', 'second', 400]],
    ['no object', { ...good, third: 'a' }, ['invalid_input', 'third', 400]],
    ['a list in place of the whole', [good], ['invalid_input', null, 400]],
    ['null in place of the whole', null, ['invalid_input', null, 400]],
    ['a text in place of the whole', 'good', ['invalid_input', null, 400]],
  ])('reports %s', (_what, value, expected) => {
    expect(refusal(value)).toEqual(expected)
  })

  it('finds something to say about any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const result = refusal(value)
        expect(Array.isArray(result)).toBe(true)
      }),
    )
  })
})

// The reader of element chains: what it makes of each form, that it undoes the writer, and that no text harms it.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { takeElementsChain } from '../pipeline/elements.ts'
import { parseElements } from './elements.ts'

const nothing = {
  event: null,
  text: null,
  tag_name: null,
  attr_class: null,
  href: null,
  attr_id: null,
  nth_child: null,
  nth_of_type: null,
  attributes: {},
}

describe('parseElements', () => {
  it.each<[string, string, object[]]>([
    ['nothing', '', []],
    ['a bare tag', 'div', [{ tag_name: 'div' }]],
    ['a tag with its colon and no attributes', 'div:;span:', [{ tag_name: 'div' }, { tag_name: 'span' }]],
    [
      'everything',
      'a.btn.big:attr__data-x="1"attr_id="go"href="/x"nth-child="2"nth-of-type="3"text="Buy"',
      [
        {
          tag_name: 'a',
          attr_class: ['btn', 'big'],
          text: 'Buy',
          href: '/x',
          attr_id: 'go',
          nth_child: 2,
          nth_of_type: 3,
          attributes: { 'attr__data-x': '1' },
        },
      ],
    ],
    [
      'colons in classes',
      'a.md:flex.b:nth-child="1"',
      [{ tag_name: 'a', attr_class: ['md:flex', 'b'], nth_child: 1 }],
    ],
    [
      'colons in attribute names',
      'a:attr__v-on:click="go"nth-child="1"',
      [{ tag_name: 'a', nth_child: 1, attributes: { 'attr__v-on:click': 'go' } }],
    ],
    [
      'separators inside quotes',
      'p:text="a;b:c.d=\\"e\\""nth-child="1";div',
      [{ tag_name: 'p', text: 'a;b:c.d="e"', nth_child: 1 }, { tag_name: 'div' }],
    ],
    ['an empty value', 'p:text=""nth-child="1"', [{ tag_name: 'p', text: '', nth_child: 1 }]],
    ['no tag', ':text="x"', [{ text: 'x' }]],
    ['a number that is none', 'p:nth-child="two"', [{ tag_name: 'p' }]],
    ['a quote that is never closed', 'p:text="abc', [{ tag_name: 'p', text: 'abc' }]],
    ['rubbish after the attributes', 'p:text="abc"rubbish', [{ tag_name: 'p', text: 'abc' }]],
    ['empty elements', ';;div;;', [{ tag_name: 'div' }]],
    [
      'a name that objects know',
      'p:attr____proto__="x"__proto__="y"',
      [{ tag_name: 'p', attributes: JSON.parse('{"attr____proto__":"x","__proto__":"y"}') as object }],
    ],
  ])('%s', (_, chain, expected) => {
    expect(parseElements(chain)).toEqual(
      expected.map((element, order) => ({ ...nothing, ...element, order })),
    )
  })

  it('gives a thousand elements at most', () => {
    expect(parseElements('a;'.repeat(5000))).toHaveLength(1000)
  })

  it('undoes the writer', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/)
    // A backslash before a quote cannot be told from an escape: PostHog's format has no way to say it.
    const text = fc
      .string({ minLength: 1, unit: 'grapheme', maxLength: 30 })
      .filter((value) => !value.includes('\\'))
    const className = fc.stringMatching(/^[a-z0-9_:/-]{1,10}$/).filter((value) => !value.startsWith(':'))
    const element = fc.record({
      tag_name: name,
      $el_text: fc.option(text, { nil: undefined }),
      attr__href: fc.option(text, { nil: undefined }),
      attr__id: fc.option(text, { nil: undefined }),
      attr__class: fc.array(className, { maxLength: 3 }),
      nth_child: fc.nat(20),
      nth_of_type: fc.nat(20),
      others: fc.dictionary(
        name.map((own) => `attr__data-${own}`),
        text,
        { maxKeys: 3 },
      ),
    })
    fc.assert(
      fc.property(fc.array(element, { maxLength: 4 }), (elements) => {
        const $elements = elements.map(({ others, ...rest }) => ({ ...rest, ...others }))
        expect(parseElements(takeElementsChain({ $elements }))).toEqual(
          elements.map((given, order) => ({
            event: null,
            text: given.$el_text ?? null,
            tag_name: given.tag_name,
            attr_class: given.attr__class.length > 0 ? given.attr__class.toSorted() : null,
            href: given.attr__href ?? null,
            attr_id: given.attr__id ?? null,
            nth_child: given.nth_child,
            nth_of_type: given.nth_of_type,
            attributes: given.others,
            order,
          })),
        )
      }),
      { numRuns: 500 },
    )
  })

  it('takes any text, and comes to the end of a long one', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'a.:;="\\\n_-'), maxLength: 200 }), (chain) => {
        for (const [order, element] of parseElements(chain).entries()) expect(element.order).toBe(order)
      }),
      { numRuns: 2000 },
    )
    // In steps that grow with the square of the length it would not, before the test runs out of time.
    const length = 1_000_000
    for (const hostile of [':', 'a:', ':a=', '="', '\\"', ':attr__', '"', ':a="\\"', ':a=""']) {
      const text = hostile.repeat(length / hostile.length)
      expect(parseElements(`a:x="${text}`).length).toBeGreaterThan(0)
      expect(parseElements(text).length).toBeLessThanOrEqual(1000)
    }
  })
})

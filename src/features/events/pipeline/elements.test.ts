import { describe, expect, it } from 'vitest'
import { takeElementsChain } from './elements.ts'

const chainOf = (...elements: unknown[]) => takeElementsChain({ $elements: elements })

describe('takeElementsChain', () => {
  it.each<[string, unknown[], string]>([
    [
      'everything',
      [
        {
          tag_name: 'a',
          $el_text: 'Buy now',
          attr__href: '/buy',
          attr__class: 'button  primary\nactive',
          attr__id: 'buy',
          'attr__data-x': 'y',
          nth_child: 2,
          nth_of_type: 1,
        },
      ],
      'a.active.button.primary:attr__data-x="y"attr_id="buy"href="/buy"nth-child="2"nth-of-type="1"text="Buy now"',
    ],
    [
      'elements in order',
      [
        { tag_name: 'span', nth_child: 1, nth_of_type: 1 },
        { tag_name: 'div', nth_child: 3, nth_of_type: 2 },
      ],
      'span:nth-child="1"nth-of-type="1";div:nth-child="3"nth-of-type="2"',
    ],
    ['positions always', [{ tag_name: 'p' }], 'p:nth-child="0"nth-of-type="0"'],
    [
      'quotes',
      [{ tag_name: 'p', $el_text: 'say "hi"' }],
      'p:nth-child="0"nth-of-type="0"text="say \\"hi\\""',
    ],
    [
      'classes as a list',
      [{ tag_name: 'p', attr__class: ['b', 'a', ''] }],
      'p.a.b:nth-child="0"nth-of-type="0"',
    ],
    ['quotes in classes', [{ tag_name: 'p', attr__class: 'a"b' }], 'p.ab:nth-child="0"nth-of-type="0"'],
    ['other fields are left out', [{ tag_name: 'p', foo: 1, text: 'x' }], 'p:nth-child="0"nth-of-type="0"'],
    [
      'values that are no text',
      [{ tag_name: 'p', attr__on: true, attr__id: 5 }],
      'p:attr__on="true"attr_id="5"nth-child="0"nth-of-type="0"',
    ],
    ['no tag', [{}], ':nth-child="0"nth-of-type="0"'],
    ['what is no element', [5, null, 'x', { tag_name: 'p' }], 'p:nth-child="0"nth-of-type="0"'],
    ['none', [], ''],
  ])('%s', (_, elements, expected) => {
    expect(chainOf(...elements)).toBe(expected)
  })

  it('keeps texts to 400 characters and links to 2048', () => {
    const chain = chainOf({ $el_text: 't'.repeat(401), attr__href: `/${'h'.repeat(2048)}` })
    expect(/text="(t+)"/.exec(chain)?.[1]).toHaveLength(400)
    expect(/href="(\/h+)"/.exec(chain)?.[1]).toHaveLength(2048)
  })

  it('takes both forms out of the properties, and the text wins', () => {
    const properties = { $elements: [{ tag_name: 'p' }], $elements_chain: 'a:', other: 1 }
    expect(takeElementsChain(properties)).toBe('a:')
    expect(properties).toEqual({ other: 1 })
  })

  it('leaves what has another type', () => {
    const properties = { $elements: 'x', $elements_chain: 5 }
    expect(takeElementsChain(properties)).toBe('')
    expect(properties).toEqual({ $elements: 'x', $elements_chain: 5 })
  })
})

// XML as it may be, and as it must not.
import { describe, expect, it } from 'vitest'
import { childrenOf, everyElement, parseXml, XmlFault } from './strict-xml.ts'

const BOUNDS = { max_bytes: 100_000, max_elements: 1000, has_comments: false }
const read = (xml: string) => parseXml(xml, BOUNDS)

describe('parseXml', () => {
  it('reads names, namespaces, attributes and text', () => {
    const root = read(
      `\ufeff<?xml version="1.0" encoding="UTF-8"?>\r\n<a:r xmlns:a='urn:a' xmlns="urn:d" x="1&#x26;2" a:y = 'p&quot;\tq'>` +
        `one &lt;two&gt; &amp;&apos;&#65;<inner/>three<a:leaf xmlns:a="urn:other"></a:leaf><plain xmlns=""/></a:r>\n`,
    )
    expect(root).toMatchObject({ namespace: 'urn:a', name: 'r', text: "one <two> &'Athree" })
    expect([...root.attributes]).toEqual([
      ['x', '1&2'],
      ['a:y', 'p" q'],
    ])
    expect(root.children.map(({ namespace, name }) => [namespace, name])).toEqual([
      ['urn:d', 'inner'],
      ['urn:other', 'leaf'],
      ['', 'plain'],
    ])
    expect([...everyElement(root)]).toHaveLength(4)
    expect(childrenOf(root, 'urn:d', 'inner')).toHaveLength(1)
    expect(childrenOf(undefined, 'urn:d', 'inner')).toEqual([])
  })

  it('takes comments where they are allowed', () => {
    const root = parseXml('<a><!-- <b> -- --><c/>x<!---->y</a>', { ...BOUNDS, has_comments: true })
    expect(root).toMatchObject({ text: 'xy', children: [{ name: 'c' }] })
    expect(() => parseXml('<a><!-- x</a>', { ...BOUNDS, has_comments: true })).toThrow('no end')
    expect(() => parseXml('<!DOCTYPE a><a/>', { ...BOUNDS, has_comments: true })).toThrow('DTD')
  })

  it.each([
    ['nothing', ''],
    ['text alone', 'hello'],
    ['text before', 'x<a/>'],
    ['text behind', '<a/>x'],
    ['two roots', '<a/><b/>'],
    ['an open element', '<a><b></a>'],
    ['an element that is never closed', '<a>'],
    ['an element that was never opened', '</a>'],
    ['crossed elements', '<a><b></a></b>'],
    ['an attribute without quotes', '<a b=c/>'],
    ['an attribute without a value', '<a b/>'],
    ['attributes that touch', '<a b="1"c="2"/>'],
    ['a bracket in an attribute', '<a b="<"/>'],
    ['an attribute twice', '<a b="1" b="2"/>'],
    ['a namespace twice', '<a xmlns:b="1" xmlns:b="2"/>'],
    ['a prefix of nothing', '<b:a/>'],
    ['a prefix of XML redefined', '<a xmlns:xml="urn:x"/>'],
    ['two colons', '<a:b:c xmlns:a="urn:a"/>'],
    ['a name of digits', '<1a/>'],
    ['a comment', '<a><!-- --></a>'],
    ['a DTD', '<!DOCTYPE a><a/>'],
    ['CDATA', '<a><![CDATA[x]]></a>'],
    ['an instruction', '<a><?x y?></a>'],
    ['an instruction before', '<?x y?><a/>'],
    ['an unknown entity', '<a>&nbsp;</a>'],
    ['a bare ampersand', '<a>a & b</a>'],
    ['NUL', '<a>\0</a>'],
    ['NUL by number', '<a>&#0;</a>'],
    ['half a character', '<a>\ud800</a>'],
    ['half a character by number', '<a>&#xd800;</a>'],
    ['a number beyond Unicode', '<a>&#x110000;</a>'],
    ['a long number', `<a>&#${'9'.repeat(50)};</a>`],
    ['depth', `${'<a>'.repeat(33)}${'</a>'.repeat(33)}`],
    ['many elements', `<a>${'<b/>'.repeat(1000)}</a>`],
    ['many attributes', `<a ${Array.from({ length: 33 }, (_, i) => `b${i}="1"`).join(' ')}/>`],
    ['many bytes', `<a>${'ä'.repeat(50_000)}</a>`],
  ])('refuses %s', (_name, xml) => {
    expect(() => read(xml)).toThrow(XmlFault)
  })

  it('takes a moment however hostile the text is', () => {
    const bounds = { ...BOUNDS, max_bytes: 300_000 }
    const long = 290_000
    const texts = [
      '<'.repeat(long),
      `<a${' '.repeat(long)}`,
      `<a ${'b="1" '.repeat(long / 6)}`,
      `<a ${'b'.repeat(long)}`,
      `<a b="${'c'.repeat(long)}`,
      `<a>${'&'.repeat(long)}</a>`,
      `<a>${'&#65'.repeat(long / 4)}</a>`,
    ]
    const begun = performance.now()
    for (const text of texts) expect(() => parseXml(text, bounds)).toThrow(XmlFault)
    expect(performance.now() - begun).toBeLessThan(2000)
  })
})

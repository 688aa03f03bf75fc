import { expect, test } from 'vitest'
import { composeMessage } from './message.ts'

const message = composeMessage({
  heading: 'Join <Acme> & "friends"',
  paragraphs: ["It's <b>Eve</b>", 'Two\nlines'],
  button: { label: 'Accept', url: 'https://longshore.example/i?a=1&b="x"' },
  footer: 'Sent by <Longshore>',
})

test('text holds everything as it is, the address on its own line', () => {
  expect(message.text).toBe(
    [
      'Join <Acme> & "friends"',
      '',
      "It's <b>Eve</b>",
      '',
      'Two',
      'lines',
      '',
      'Accept:',
      'https://longshore.example/i?a=1&b="x"',
      '',
      '-- ',
      'Sent by <Longshore>',
    ].join('\n'),
  )
})

test('HTML escapes everything and asks for nothing outside', () => {
  expect(message.html).toContain('Join &lt;Acme&gt; &amp; &quot;friends&quot;</h1>')
  expect(message.html).toContain('It&#39;s &lt;b&gt;Eve&lt;/b&gt;')
  expect(message.html).toContain('Two<br>lines')
  expect(message.html).toContain('href="https://longshore.example/i?a=1&amp;b=&quot;x&quot;"')
  expect(message.html).not.toMatch(/<b>|<img|<link|<script|url\(|src=|@import/)
  expect(message.html.match(/https?:/g)).toHaveLength(2)
})

test('button and footer may be left out', () => {
  const plain = composeMessage({ heading: 'Hi', paragraphs: ['There.'] })
  expect(plain.text).toBe('Hi\n\nThere.')
  expect(plain.html).not.toContain('<a ')
})

test.each(['javascript:alert(1)', 'data:text/html,x', '/relative', ''])('no button to %j', (url) => {
  expect(() => composeMessage({ heading: '', paragraphs: [], button: { label: 'x', url } })).toThrow('button')
})

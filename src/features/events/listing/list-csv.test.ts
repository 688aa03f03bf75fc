// The listing, one event and values as CSV, and the three ways to ask for it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { getText, openPlace, store, storePerson, withQuery, type Place } from './fixture/events.ts'

let app: TestApp
let place: Place
const uuid = '00000000-0000-4000-8000-000000000001'
beforeAll(async () => {
  app = await startTestApp()
  place = await openPlace(app)
  await store(place, [
    {
      uuid,
      event: 'buy',
      distinct_id: 'a',
      timestamp: '2024-06-01T10:00:00Z',
      properties: {
        $browser: 'Chrome',
        paid: true,
        cart: { items: ['x', 'y'] },
        note: 'a "b", c',
        none: {},
        nil: null,
      },
      elements_chain: 'a.btn:nth-child="1"nth-of-type="2"',
    },
    {
      uuid: uuid.replace(/1$/, '2'),
      event: '=cmd()',
      distinct_id: 'b',
      timestamp: '2024-06-01T09:00:00.25Z',
      properties: { price: -5 },
    },
  ])
  await storePerson(place, { distinct_ids: ['a'], properties: { email: 'a@example.com' } })
})
afterAll(() => app.close())

const HEADER =
  'distinct_id,elements.0.attr_class.0,elements.0.attr_id,elements.0.event,elements.0.href,elements.0.nth_child,' +
  'elements.0.nth_of_type,elements.0.order,elements.0.tag_name,elements.0.text,elements_chain,event,id,person,' +
  'person.distinct_ids.0,person.is_identified,person.properties.email,properties.$browser,properties.cart.items.0,' +
  'properties.cart.items.1,properties.nil,properties.note,properties.paid,properties.price,timestamp'

describe('the list', () => {
  it('one header for all rows, nested values by their path, dangerous text disarmed', async () => {
    const { status, text, headers } = await getText(place, `${place.url}?format=csv`)
    expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8'])
    const chain = '"a.btn:nth-child=""1""nth-of-type=""2"""'
    expect(text.split('\r\n')).toEqual([
      HEADER,
      `a,btn,,,,1,2,0,a,,${chain},buy,${uuid},,a,false,a@example.com,Chrome,x,y,,"a ""b"", c",true,,2024-06-01T10:00:00+00:00`,
      `b,,,,,,,,,,,'=cmd(),${uuid.replace(/1$/, '2')},,,,,,,,,,,-5,2024-06-01T09:00:00.250000+00:00`,
      '',
    ])
  })

  it.each<[string, string, Record<string, string>, 'csv' | 'json']>([
    ['format=csv', '/events/?format=csv', {}, 'csv'],
    ['the suffix', '/events.csv', {}, 'csv'],
    ['the suffix against format', '/events.csv?format=json', {}, 'csv'],
    ['the other suffix', '/events.json', { accept: 'text/csv' }, 'json'],
    ['Accept', '/events/', { accept: 'text/csv' }, 'csv'],
    ['Accept with anything else second', '/events/', { accept: 'text/csv, */*;q=0.5' }, 'csv'],
    ['Accept that likes JSON better', '/events/', { accept: 'text/csv;q=0.5, application/json' }, 'json'],
    ['Accept that likes CSV better', '/events/', { accept: 'application/json;q=0.2,text/CSV; q=0.9' }, 'csv'],
    ['Accept that refuses CSV', '/events/', { accept: 'text/csv;q=0' }, 'json'],
    ['Accept of browsers', '/events/', { accept: 'text/html,*/*;q=0.8' }, 'json'],
    ['format against Accept', '/events/?format=json', { accept: 'text/csv' }, 'json'],
    ['without the trailing slash', '/events?format=csv', {}, 'csv'],
    ['under environments', '/events.csv', {}, 'csv'],
  ])('%s', async (name, path, headers, expected) => {
    const base = name === 'under environments' ? 'environments' : 'projects'
    const answer = await getText(place, `/api/${base}/${place.project_id}${path}`, headers)
    expect([answer.status, answer.headers['content-type']]).toEqual([
      200,
      expected === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8',
    ])
  })

  it('no rows: a header of the plain fields', async () => {
    const { text } = await getText(place, `${place.url}?format=csv&event=none`)
    expect(text).toBe('distinct_id,elements_chain,event,id,timestamp\r\n')
  })

  it('3,500 rows unless told', async () => {
    const large = await openPlace(app)
    await store(
      large,
      Array.from({ length: 3501 }, () => ({})),
    )
    const lines = async (query: string) =>
      (await getText(large, `${large.url}?format=csv${query}`)).text.trim().split('\r\n').length - 1
    expect(await lines('')).toBe(3500)
    expect(await lines('&limit=3501')).toBe(3501)
    expect(await lines('&limit=2')).toBe(2)
  })

  it('errors are JSON', async () => {
    for (const query of ['?limit=0', '?where=["x ="]', '?after=x']) {
      const { status, text, headers } = await getText(
        place,
        `/api/projects/${place.project_id}/events.csv${query}`,
      )
      expect([status, headers['content-type']]).toEqual([400, 'application/json; charset=utf-8'])
      expect(JSON.parse(text)).toMatchObject({ type: 'validation_error' })
    }
  })

  it('select: columns in the order asked for', async () => {
    const url = withQuery(place.url, {
      format: 'csv',
      select: ['properties.price', 'event -- What', 'person'],
    })
    expect((await getText(place, url)).text.split('\r\n')[0]).toMatch(
      /^properties\.price,event -- What,person(\.[a-z0-9_.]+,?)*/,
    )
    const none = withQuery(place.url, { format: 'csv', select: ['event', 'count()'], event: 'none' })
    expect((await getText(place, none)).text).toBe('event,count()\r\n')
  })
})

describe('one event and values', () => {
  it('one row', async () => {
    const { status, text } = await getText(place, `${place.url}${uuid}/?format=csv`)
    expect(status).toBe(200)
    const [header, row, end] = text.split('\r\n')
    expect(header).toBe(HEADER.replace('person,', '').replace('properties.price,', ''))
    expect(row).toMatch(/^a,btn,/)
    expect(end).toBe('')
  })

  it('one column', async () => {
    const recent = await openPlace(app)
    await store(recent, [{ properties: { plan: '=1' } }])
    const url = `${recent.url}values/?format=csv&key=`
    expect((await getText(recent, `${url}plan`)).text).toBe("name\r\n'=1\r\n")
    expect((await getText(recent, `${url}none`)).text).toBe('name\r\n')
  })

  it('an unknown format is 404', async () => {
    expect((await getText(place, `${place.url}${uuid}/?format=xml`)).status).toBe(404)
    expect((await getText(place, `${place.url}values/?format=xml&key=a`)).status).toBe(404)
  })
})

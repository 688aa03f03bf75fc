// Mail over real SMTP on loopback: what arrives, what is refused, and what errors must not say.
import { afterEach, describe, expect, test } from 'vitest'
import { startSmtpServer, type SmtpStandIn, type SmtpStandInOptions } from '../../../test/stand-ins/smtp.ts'
import { MailRefused, openMailer, type Mail, type Mailer } from './mail.ts'
import { composeMessage } from './message.ts'

const FROM = 'Longshore <mail@longshore.example>'
const MAIL: Mail = {
  to: { name: 'Ada', address: 'ada@example.com' },
  subject: 'Hello',
  text: 'A line.',
}

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function start(options: SmtpStandInOptions = {}): Promise<SmtpStandIn> {
  const server = await startSmtpServer(options)
  closers.push(() => server.close())
  return server
}

function open(smtp_url: string | null, from = FROM): Mailer {
  const mailer = openMailer({ smtp_url, from })
  closers.push(() => mailer.close())
  return mailer
}

async function refusalOf(work: Promise<unknown>): Promise<MailRefused> {
  const error = await work.then(
    () => null,
    (caught: unknown) => caught,
  )
  expect(error).toBeInstanceOf(MailRefused)
  return error as MailRefused
}

describe('a mail that is taken', () => {
  test('arrives with sender, recipient, reply address, subject, text and HTML', async () => {
    const server = await start()
    await open(server.url).send({
      to: { name: 'Ada, Countess of "Lovelace"', address: 'ada@example.com' },
      reply_to: { name: 'Grâce', address: 'grace@example.com' },
      subject: 'Ünï – 你好',
      text: 'Plain: https://longshore.example/a?b=1&c=2',
      html: '<p><a href="https://longshore.example/a?b=1&amp;c=2">Link</a></p>',
    })
    expect(server.mails).toHaveLength(1)
    expect(server.mails[0]).toMatchObject({
      recipients: ['ada@example.com'],
      logged_in_as: null,
      from: { name: 'Longshore', address: 'mail@longshore.example' },
      to: [{ name: 'Ada, Countess of "Lovelace"', address: 'ada@example.com' }],
      replyTo: [{ name: 'Grâce', address: 'grace@example.com' }],
      subject: 'Ünï – 你好',
      text: 'Plain: https://longshore.example/a?b=1&c=2',
      links: ['https://longshore.example/a?b=1&c=2'],
    })
    expect(server.mails[0]?.html).toContain('Link</a>')
  })

  test('without HTML and reply address has neither', async () => {
    const server = await start()
    await open(server.url).send(MAIL)
    const mail = await server.waitForMail('ADA@example.com')
    expect(mail).toMatchObject({ text: 'A line.', html: null, replyTo: [] })
  })

  test('a composed message survives the way', async () => {
    const server = await start()
    const button = { label: 'Accept', url: 'https://longshore.example/i?a=1&b=2' }
    const message = composeMessage({
      heading: 'Grüße & <Küsse>',
      paragraphs: ['.', 'x'.repeat(2000)],
      button,
    })
    await open(server.url).send({ ...MAIL, ...message })
    const mail = await server.waitForMail((received) => received.subject === 'Hello')
    expect(mail.text).toBe(message.text)
    expect(mail.html?.trim()).toBe(message.html.trim())
    expect(mail.links).toEqual([button.url])
  })

  test('many at once share few connections', async () => {
    const server = await start()
    const mailer = open(server.url)
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        mailer.send({ ...MAIL, to: { name: '', address: `user${index}@example.com` } }),
      ),
    )
    expect(new Set(server.mails.flatMap(({ recipients }) => recipients)).size).toBe(12)
    expect(server.connections()).toBeLessThanOrEqual(5)
  })
})

describe('header injection', () => {
  const INJECTIONS = [
    'Ada\r\nBcc: evil@example.com',
    'Ada\nBcc: evil@example.com',
    'Ada\rBcc: evil@example.com',
    'Ada\r\n\r\nAnother body',
    'Ada <evil@example.com>, Eve',
    'Ada", <evil@example.com>, "',
    'Ada\u0000\u2028Bcc: evil@example.com',
  ]

  test.each(INJECTIONS)('in names and subject: %j', async (text) => {
    const server = await start()
    await open(server.url).send({
      to: { name: text, address: 'ada@example.com' },
      reply_to: { name: text, address: 'grace@example.com' },
      subject: text,
      text: 'The body.',
    })
    const [mail] = server.mails
    expect(mail?.recipients).toEqual(['ada@example.com'])
    expect(mail?.to.map(({ address }) => address)).toEqual(['ada@example.com'])
    expect(mail?.replyTo.map(({ address }) => address)).toEqual(['grace@example.com'])
    expect(mail?.header_names).not.toContain('bcc')
    expect(mail?.text).toBe('The body.')
    expect(mail?.subject).not.toMatch(/[\r\n\0]/)
    expect(mail?.subject).toMatch(/^Ada/)
  })

  test.each([
    'ada@example.com\r\nRCPT TO:<evil@example.com>',
    'ada@example.com, evil@example.com',
    'ada@example.com> BODY=8BITMIME',
    '<ada@example.com>',
    '"ada@evil.example"@example.com',
    'ada@example.com ',
    'ada',
    '@example.com',
    '',
  ])('an address that is not one: %j', async (address) => {
    const server = await start()
    const mailer = open(server.url)
    const refusal = await refusalOf(mailer.send({ ...MAIL, to: { name: 'Ada', address } }))
    expect(refusal.permanent).toBe(true)
    const reply = await refusalOf(mailer.send({ ...MAIL, reply_to: { name: 'Ada', address } }))
    expect(reply.permanent).toBe(true)
    expect(server.connections()).toBe(0)
  })

  test('a body is never read from a file', async () => {
    const server = await start()
    const mail = { ...MAIL, text: { path: '/etc/passwd' } as unknown as string }
    await refusalOf(open(server.url).send(mail))
    expect(server.mails).toEqual([])
  })
})

describe('a mail that is not taken', () => {
  test.each([
    [550, true],
    [553, true],
    [450, false],
    [421, false],
    [503, false],
    [530, false],
  ])('a recipient refused with %i is permanent: %s', async (code, permanent) => {
    const server = await start()
    server.refuse((address) => (address === 'ada@example.com' ? code : null))
    const mailer = open(server.url)
    const refusal = await refusalOf(mailer.send(MAIL))
    expect(refusal.permanent).toBe(permanent)
    expect(refusal.message).toContain(String(code))
    expect(server.mails).toEqual([])

    await mailer.send({ ...MAIL, to: { name: 'Bob', address: 'bob@example.com' } })
    expect(server.mails.map(({ recipients }) => recipients)).toEqual([['bob@example.com']])
  })

  test('a server that is down may be up later', async () => {
    const server = await start()
    const mailer = open(server.url)
    await mailer.send(MAIL)
    await server.close()
    expect(await refusalOf(mailer.send(MAIL))).toMatchObject({ permanent: false })
    await refusalOf(mailer.verify())

    await server.reopen()
    await mailer.send({ ...MAIL, subject: 'Again' })
    expect(server.mails.map(({ subject }) => subject)).toEqual(['Hello', 'Again'])
  })

  test('without SMTP_URL nothing is sent and the caller can tell', async () => {
    const mailer = open(null)
    expect(mailer.configured).toBe(false)
    await refusalOf(mailer.send(MAIL))
    await refusalOf(mailer.verify())
  })
})

describe('login', () => {
  const auth = { user: 'us@er', pass: 'p/ä:s3cret+w' }

  test('the credentials of the URL are used', async () => {
    const server = await start({ auth })
    const mailer = open(server.url)
    expect(mailer.configured).toBe(true)
    await mailer.verify()
    await mailer.send(MAIL)
    expect(server.mails).toMatchObject([{ logged_in_as: 'us@er' }])
  })

  test('a wrong password is no fault of the mail, and stands in no error', async () => {
    const server = await start({ auth })
    const mailer = open(server.url.replace(/:[^:@]*@/, `:${encodeURIComponent('wrong/s3cret')}@`))
    for (const refusal of [await refusalOf(mailer.send(MAIL)), await refusalOf(mailer.verify())]) {
      expect(refusal.permanent).toBe(false)
      expect(refusal.message).toContain('EAUTH')
      expectNoSecret(refusal, 'wrong/s3cret')
    }
    expect(server.mails).toEqual([])
  })

  test('a server that repeats the password does not get it into the error', async () => {
    const server = await start({ auth })
    const spoken = [auth.pass, encodeURIComponent(auth.pass), Buffer.from(auth.pass).toString('base64')].join(
      '|',
    )
    server.refuse(() => 550)
    const mailer = open(server.url)
    // The stand-in answers with the address it refuses, so the secret goes through the server's own words.
    const to = { name: 'x', address: `${encodeURIComponent(auth.pass)}@example.com` }
    const refusal = await refusalOf(mailer.send({ ...MAIL, to }))
    expect(refusal.message).toContain('recipient refused: ***@example.com')
    for (const secret of spoken.split('|')) expectNoSecret(refusal, secret)
  })

  test.each([
    'smtp://user:s3cret@',
    'smtp://user:s3cret%@localhost',
    'http://user:s3cret@localhost',
    's3cret',
    '',
  ])('a faulty SMTP_URL is refused at once and not repeated: %j', (smtp_url) => {
    expect(() => openMailer({ smtp_url, from: FROM })).toThrow(/^SMTP_URL must look like (?!.*s3cret)/)
  })

  test.each(['', 'Longshore', 'a@example.com, b@example.com', 'A <a@example.com>, B <b@example.com>'])(
    'a faulty MAIL_FROM is refused at once: %j',
    (from) => {
      expect(() => openMailer({ smtp_url: 'smtp://127.0.0.1', from })).toThrow('MAIL_FROM')
    },
  )
})

describe('TLS', () => {
  test.each(['starttls', 'implicit'] as const)('%s on loopback works with any certificate', async (tls) => {
    const server = await start({ tls })
    await open(server.url).send(MAIL)
    await open(server.url.replace('127.0.0.1', 'localhost')).send(MAIL)
    expect(server.mails).toHaveLength(2)
  })

  // 0.0.0.0 leads to the stand-in on loopback, and is no loopback address by name.
  test.each([
    ['starttls', ''],
    ['implicit', ''],
    ['none', ''],
    ['starttls', '?tls.rejectUnauthorized=false'],
    ['none', '?ignoreTLS=true&requireTLS=false'],
  ] as const)('elsewhere an unknown certificate or none ends it: %s %s', async (tls, query) => {
    const server = await start({ tls, auth: { user: 'user', pass: 's3cret' } })
    const mailer = open(`${server.url.replace('127.0.0.1', '0.0.0.0')}/${query}`)
    const refusal = await refusalOf(mailer.send(MAIL))
    expect(refusal.permanent).toBe(false)
    expectNoSecret(refusal, 's3cret')
    expect(server.mails).toEqual([])
    expect(server.logins()).toBe(0)
  })
})

function expectNoSecret(error: Error, secret: string): void {
  expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain(secret)
  expect(error.cause).toBeUndefined()
}

// A mail server on loopback that speaks real SMTP, keeps what it is given and lets a test refuse recipients
// or be down for a while. Called by every test that expects (or must not see) a mail.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { callbackify } from 'node:util'
import PostalMime, { type Address, type Mailbox } from 'postal-mime'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'

export type ReceivedMail = {
  /** The addresses of RCPT TO: who really gets the mail, whatever its headers say. */
  recipients: string[]
  /** The user that logged in for this mail, null without a login. */
  logged_in_as: string | null
  to: Mailbox[]
  from: Mailbox | null
  replyTo: Mailbox[]
  subject: string
  text: string
  html: string | null
  /** Every http(s) address in the text and in the links of the HTML, each once. */
  links: string[]
  /** Names of all headers in lower case, in order. */
  header_names: string[]
  raw: string
}

export type SmtpStandIn = {
  /** For SMTP_URL; holds the credentials when `auth` was given. */
  url: string
  port: number
  mails: ReceivedMail[]
  /** Connections accepted so far: a test of "no mail at all" can ask for 0. */
  connections(): number
  /** Logins tried so far, right or wrong: passwords that left the client. */
  logins(): number
  /** The first mail, past or to come, for this address or predicate. */
  waitForMail(wanted: string | ((mail: ReceivedMail) => boolean), timeout_ms?: number): Promise<ReceivedMail>
  /** Decides for each recipient: an SMTP code refuses it, null takes it. */
  refuse(decide: (address: string) => number | null): void
  /** Stops listening and drops open connections; safe to call twice. */
  close(): Promise<void>
  /** Listens again on the same port, with the mails received before. */
  reopen(): Promise<void>
}

export type SmtpStandInOptions = {
  /** Mails are refused without this login. */
  auth?: { user: string; pass: string }
  /** `starttls` and `implicit` present a certificate that nobody trusts. */
  tls?: 'none' | 'starttls' | 'implicit'
}

export async function startSmtpServer(options: SmtpStandInOptions = {}): Promise<SmtpStandIn> {
  const mails: ReceivedMail[] = []
  const waiting = new Set<() => void>()
  let connections = 0
  let logins = 0
  let decide: (address: string) => number | null = () => null

  const hooks: Hooks = {
    connected: () => {
      connections += 1
    },
    loggingIn: () => {
      logins += 1
    },
    decide: (address) => decide(address),
    received: (mail) => {
      mails.push(mail)
      for (const look of waiting) look()
    },
  }
  let server: SMTPServer | null = await listen(0, options, hooks)
  const port = (server.server.address() as AddressInfo).port

  return {
    url: urlOf(options, port),
    port,
    mails,
    connections: () => connections,
    logins: () => logins,
    refuse: (newDecide) => {
      decide = newDecide
    },
    async waitForMail(wanted, timeout_ms = 5000) {
      const matches =
        typeof wanted === 'string'
          ? (mail: ReceivedMail) => mail.recipients.some((address) => sameAddress(address, wanted))
          : wanted
      return await new Promise<ReceivedMail>((resolve, reject) => {
        const look = () => {
          const found = mails.find(matches)
          if (!found) return
          clearTimeout(timer)
          waiting.delete(look)
          resolve(found)
        }
        const timer = setTimeout(() => {
          waiting.delete(look)
          const seen = mails.map((mail) => `${mail.recipients.join(', ')}: ${mail.subject}`)
          reject(new Error(`no such mail within ${timeout_ms} ms; received: ${JSON.stringify(seen)}`))
        }, timeout_ms)
        waiting.add(look)
        look()
      })
    },
    async close() {
      const closing = server
      server = null
      if (closing) await new Promise<void>((resolve) => closing.close(() => resolve()))
    },
    async reopen() {
      server ??= await listen(port, options, hooks)
    },
  }
}

type Hooks = {
  connected(): void
  loggingIn(): void
  decide(address: string): number | null
  received(mail: ReceivedMail): void
}

async function listen(port: number, options: SmtpStandInOptions, hooks: Hooks): Promise<SMTPServer> {
  const server = new SMTPServer({
    logger: false,
    secure: options.tls === 'implicit',
    disabledCommands: [
      ...(options.tls === 'starttls' ? [] : ['STARTTLS']),
      ...(options.auth ? [] : ['AUTH']),
    ],
    allowInsecureAuth: true,
    authOptional: !options.auth,
    disableReverseLookup: true,
    // Clients keep pooled connections open; waiting for them would hold up every test that closes.
    closeTimeout: 50,
    onConnect(_session, done) {
      hooks.connected()
      done()
    },
    onAuth(auth, _session, done) {
      hooks.loggingIn()
      const right = auth.username === options.auth?.user && auth.password === options.auth?.pass
      done(right ? null : smtpError(535, 'login refused'), right ? { user: auth.username } : undefined)
    },
    onRcptTo({ address }, _session, done) {
      const code = hooks.decide(address)
      done(code === null ? null : smtpError(code, `recipient refused: ${address}`))
    },
    onData(stream, session, done) {
      callbackify(receive)(stream, session, (error, mail) => {
        if (error) return done(error)
        hooks.received(mail)
        done()
      })
    },
  })
  // A client that drops its connection is an error event here, and nothing a test should die of.
  server.on('error', () => {})
  server.listen(port, '127.0.0.1')
  await once(server.server, 'listening')
  return server
}

async function receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<ReceivedMail> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  const raw = Buffer.concat(chunks)
  const mail = await PostalMime.parse(raw)
  return {
    recipients: session.envelope.rcptTo.map(({ address }) => address),
    logged_in_as: typeof session.user === 'string' ? session.user : null,
    to: mailboxes(mail.to),
    from: mailboxes(mail.from ? [mail.from] : [])[0] ?? null,
    replyTo: mailboxes(mail.replyTo),
    subject: mail.subject ?? '',
    text: (mail.text ?? '').trimEnd(),
    html: mail.html ?? null,
    links: findLinks(mail.text ?? '', mail.html ?? ''),
    header_names: mail.headers.map(({ key }) => key),
    raw: raw.toString('utf8'),
  }
}

function mailboxes(addresses: Address[] = []): Mailbox[] {
  return addresses.flatMap((address) => address.group ?? [address])
}

function findLinks(text: string, html: string): string[] {
  const inText = [...text.matchAll(/https?:\/\/[^\s<>"]+/g)].map(([link]) => link)
  const inHtml = [...html.matchAll(/href="(https?:[^"]+)"/g)].map(([, link]) =>
    (link ?? '').replaceAll('&amp;', '&'),
  )
  return [...new Set([...inText, ...inHtml])]
}

function urlOf({ auth, tls }: SmtpStandInOptions, port: number): string {
  const login = auth ? `${encodeURIComponent(auth.user)}:${encodeURIComponent(auth.pass)}@` : ''
  return `${tls === 'implicit' ? 'smtps' : 'smtp'}://${login}127.0.0.1:${port}`
}

function sameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}

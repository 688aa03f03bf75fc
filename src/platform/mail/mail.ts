// Outgoing mail over SMTP. Called by the mail jobs of the slices, and by `doctor` for its check; what a message
// says is written in the slices and laid out by message.ts.
import { createTransport, type NodemailerError, type SMTPPoolOptions } from 'nodemailer'
import addressparser from 'nodemailer/lib/addressparser'

export type MailAddress = { name: string; address: string }

export type Mail = {
  to: MailAddress
  reply_to?: MailAddress
  subject: string
  text: string
  html?: string
}

export type Mailer = {
  /** False without SMTP_URL: then `send` and `verify` throw. */
  configured: boolean
  /** Resolves once the mail server has taken the mail; throws MailRefused otherwise. */
  send(mail: Mail): Promise<void>
  /** Connects and logs in without sending. */
  verify(): Promise<void>
  close(): void
}

export class MailRefused extends Error {
  override readonly name = 'MailRefused'
  constructor(
    message: string,
    /** True when the same mail would be refused again: give up. False when a later try may succeed. */
    readonly permanent: boolean,
  ) {
    super(message)
  }
}

type Login = { user: string; pass: string }

/** A mail server that is down must not hold a job for nodemailer's own two to ten minutes. */
const TIMEOUT_MS = 10_000

/** No quoting, no comments, no lists: what is left cannot mean more than one address. */
const ADDRESS = /^[^\s\p{Cc}<>()[\]\\,;:"@]{1,64}@[^\s\p{Cc}<>()[\]\\,;:"@]{1,255}$/u

/** The login was refused or is missing. That is the operator's to mend, and then the mail goes out. */
const LOGIN_CODES = new Set([530, 534, 535, 538])

export function openMailer(options: { smtp_url: string | null; from: string }): Mailer {
  if (options.smtp_url === null) return mailerWithoutServer()
  const from = parseFrom(options.from)
  const server = parseSmtpUrl(options.smtp_url)
  const transport = createTransport({ ...server, pool: true })
  return {
    configured: true,
    async send(mail) {
      const message = {
        from,
        to: checkedAddress(mail.to),
        ...(mail.reply_to && { replyTo: checkedAddress(mail.reply_to) }),
        subject: oneLine(mail.subject),
        text: mail.text,
        ...(mail.html !== undefined && { html: mail.html }),
        // A body is text and never the name of a file or page to fetch.
        disableFileAccess: true,
        disableUrlAccess: true,
      }
      await transport.sendMail(message).catch((error: NodemailerError) => {
        throw toRefused(error, server.auth)
      })
    },
    async verify() {
      await transport.verify().catch((error: NodemailerError) => {
        throw toRefused(error, server.auth)
      })
    },
    close: () => transport.close(),
  }
}

function mailerWithoutServer(): Mailer {
  const refuse = () => Promise.reject(new MailRefused('No mail server is set (SMTP_URL).', true))
  return { configured: false, send: refuse, verify: refuse, close: () => {} }
}

function parseFrom(from: string): MailAddress {
  const [first, ...others] = addressparser(from, { flatten: true })
  if (!first || others.length > 0 || !ADDRESS.test(first.address)) {
    throw new Error('MAIL_FROM must be one address, as in "Longshore <mail@example.com>".')
  }
  return { name: oneLine(first.name), address: first.address }
}

/**
 * Options from the parts we know and not from the URL as a whole: nodemailer would take any option of its own from
 * the query, `tls.rejectUnauthorized=false` among them.
 */
function parseSmtpUrl(text: string): SMTPPoolOptions & { auth?: Login } {
  const url = URL.canParse(text) ? new URL(text) : null
  const auth = url && parseLogin(url)
  if (!url?.hostname || auth === null || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:')) {
    throw new Error(
      'SMTP_URL must look like smtp://user:password@host:587 or smtps://user:password@host:465.',
    )
  }
  const secure = url.protocol === 'smtps:'
  const host = hostToDial(url.hostname)
  const isLocal = isLoopback(host)
  return {
    host,
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    requireTLS: !secure && !isLocal,
    tls: { rejectUnauthorized: !isLocal },
    ...(auth && { auth }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
  }
}

/** Undefined without a login, null for one with a stray percent sign. */
function parseLogin(url: URL): Login | undefined | null {
  if (!url.username) return undefined
  try {
    return { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) }
  } catch {
    return null
  }
}

/** nodemailer asks the name servers for `localhost` too; whoever answers would get an unchecked connection. */
function hostToDial(hostname: string): string {
  const host = hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return host === 'localhost' || host === 'localhost.' ? '127.0.0.1' : host
}

function isLoopback(host: string): boolean {
  return host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}

function checkedAddress({ name, address }: MailAddress): MailAddress {
  if (!ADDRESS.test(address)) throw new MailRefused('The mail address is not valid.', true)
  return { name: oneLine(name), address }
}

/** A line break in a header starts the next header. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}

/** A new error and no cause: nodemailer's may hold the server's words, and those may repeat what we sent. */
function toRefused(error: NodemailerError, auth: Login | undefined): MailRefused {
  const status = error.responseCode ?? 0
  const isAboutThisMail = error.code === 'EENVELOPE' || error.code === 'EMESSAGE'
  // 503 says that the session was in the wrong state, not that the mail is unwanted.
  const permanent = isAboutThisMail && status >= 500 && status !== 503 && !LOGIN_CODES.has(status)
  const said = quotable(error.response ?? error.message, auth)
  return new MailRefused(`The mail was not sent (${error.code ?? 'unknown'}): ${said}`, permanent)
}

function quotable(text: string, auth: Login | undefined): string {
  const clean = spellingsOf(auth).reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
  return oneLine(clean).slice(0, 300)
}

/** The password as it stands in the URL and in the commands of SMTP. */
function spellingsOf(auth: Login | undefined): string[] {
  if (!auth?.pass) return []
  const { user, pass } = auth
  const encoded = [pass, `\0${user}\0${pass}`].map((text) => Buffer.from(text).toString('base64'))
  return [...encoded, encodeURIComponent(pass), pass]
}

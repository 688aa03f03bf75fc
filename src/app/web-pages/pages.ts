// What each mailed link opens: show what the API says of it, take the one form, hand it to the same API call a script
// would make, and show the outcome.
import { KEYS_LEFT_HEADER } from '../../features/sign-in/recovery-routes.ts'
import type { Page } from './html.ts'

/** An answer of the API, or its error. */
export type Outcome = {
  status: number
  code: string | null
  detail: string
  body: Record<string, unknown> | null
  headers: Record<string, string>
}

export type Visit = {
  params: Record<string, string>
  query: Record<string, string>
  form: Record<string, string>
  /** Calls the API as this visitor, with their cookie. */
  call(
    method: 'GET' | 'POST',
    path: string,
    params: Record<string, string>,
    body?: object,
    query?: Record<string, string>,
  ): Promise<Outcome>
}

export type Shown = { page: Page } | { redirect: string }

export type WebPage = {
  path: string
  show(visit: Visit): Promise<Shown>
  submit?(visit: Visit): Promise<Shown>
}

const email = { name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username' } as const
const password = {
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
} as const
const newPassword = {
  name: 'password',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
} as const
const endKeys = {
  name: 'delete_personal_api_keys',
  label: 'Also delete my personal API keys: scripts that use them stop working',
  type: 'checkbox',
  autocomplete: 'off',
} as const
const code = { name: 'token', label: 'Code', type: 'text', autocomplete: 'one-time-code' } as const

export const webPages: readonly WebPage[] = [
  {
    path: '/',
    async show(visit) {
      const me = await visit.call('GET', '/api/users/:uuid/', { uuid: '@me' })
      if (me.status !== 200)
        return { page: welcome('The server is running. Sign in, or use the API with a key.', true) }
      const organization = me.body?.organization as { name: string } | null
      return {
        page: welcome(
          `Signed in as ${String(me.body?.email)}${organization ? `, in ${organization.name}` : ''}.`,
          false,
        ),
      }
    },
    async submit(visit) {
      await visit.call('POST', '/api/logout/', {})
      return { redirect: '/' }
    },
  },
  {
    path: '/login',
    show: async () => ({ page: loginPage(null) }),
    async submit(visit) {
      const outcome = await visit.call('POST', '/api/login/', {}, pick(visit.form, ['email', 'password']))
      if (outcome.code === '2fa_required') return { page: secondFactorPage(null, nextOf(visit)) }
      return outcome.status === 200
        ? { redirect: nextOf(visit) }
        : { page: loginPage(outcome.detail, visit.form.email) }
    },
  },
  {
    path: '/login/token',
    show: async (visit) => ({ page: secondFactorPage(null, nextOf(visit)) }),
    async submit(visit) {
      const outcome = await visit.call('POST', '/api/login/token/', {}, pick(visit.form, ['token']))
      return outcome.status === 200
        ? { redirect: nextOf(visit) }
        : { page: secondFactorPage(outcome.detail, nextOf(visit)) }
    },
  },
  {
    path: '/signup/:invite_id',
    show: (visit) => showInvite(visit, null),
    async submit(visit) {
      const outcome = await visit.call(
        'POST',
        '/api/signup/:invite_id/',
        visit.params,
        pick(visit.form, ['first_name', 'password']),
      )
      return outcome.status === 201
        ? { redirect: String(outcome.body?.redirect_url) }
        : showInvite(visit, outcome.detail)
    },
  },
  {
    path: '/reset',
    show: async () => ({ page: resetRequestPage(null) }),
    async submit(visit) {
      const outcome = await visit.call('POST', '/api/reset/', {}, pick(visit.form, ['email']))
      if (outcome.status !== 204) return { page: resetRequestPage(outcome.detail) }
      return {
        page: {
          title: 'Look into your mail',
          text: 'If there is an account with this address, a link is on its way to it.',
        },
      }
    },
  },
  {
    path: '/reset/:user_uuid/:token',
    async show({ params, call }) {
      const { user_uuid = '', token = '' } = params
      const outcome = await call('GET', '/api/reset/:user_uuid/', { user_uuid }, undefined, { token })
      return { page: outcome.status === 204 ? newPasswordPage(null) : deadLink(outcome.detail) }
    },
    async submit({ params, form, call }) {
      const { user_uuid = '', token = '' } = params
      const outcome = await call(
        'POST',
        '/api/reset/:user_uuid/',
        { user_uuid },
        { token, ...pick(form, ['password', 'delete_personal_api_keys']) },
      )
      if (outcome.status === 204) return { page: passwordSetPage(outcome.headers[KEYS_LEFT_HEADER]) }
      return {
        page: outcome.code === 'invalid_token' ? deadLink(outcome.detail) : newPasswordPage(outcome.detail),
      }
    },
  },
  {
    path: '/verify_email/:uuid',
    show: async () => ({
      page: {
        title: 'Look into your mail',
        text: 'We have sent you a link. Follow it to verify your address.',
      },
    }),
  },
  {
    path: '/verify_email/:uuid/:token',
    // A button and not the visit itself: mail scanners follow links, people press buttons.
    show: async () => ({
      page: { title: 'Verify your address', form: { fields: [], button: 'This is my address' } },
    }),
    async submit({ params, call }) {
      const { uuid = '', token = '' } = params
      const outcome = await call('POST', '/api/users/:uuid/verify_email/', { uuid }, { token })
      if (outcome.status !== 200) return { page: deadLink(outcome.detail) }
      return {
        page: {
          title: 'Thank you',
          text: 'Your address is verified.',
          links: [{ href: '/', label: 'Continue' }],
        },
      }
    },
  },
  {
    path: '/undo_email_change/:uuid/:token',
    show: async () => ({
      page: {
        title: 'Take your account back',
        text: 'The account returns to this address. Its password, sessions and personal API keys end.',
        form: { fields: [], button: 'Take it back' },
      },
    }),
    async submit({ params, call }) {
      const { uuid = '', token = '' } = params
      const outcome = await call('POST', '/api/users/:uuid/undo_email_change/', { uuid }, { token })
      if (outcome.status !== 200) return { page: deadLink(outcome.detail) }
      return {
        page: {
          title: 'The account is yours again',
          text: 'Set a new password with the link we have just sent to this address.',
        },
      }
    },
  },
]

async function showInvite(visit: Visit, error: string | null): Promise<Shown> {
  const preview = await visit.call('GET', '/api/signup/:invite_id/', visit.params)
  if (preview.code === 'account_exists') return { redirect: preview.detail }
  if (preview.status !== 200)
    return { page: { title: 'This invite cannot be accepted', error: preview.detail } }
  const { organization_name, target_email, first_name } = preview.body as Record<string, string>
  const me = await visit.call('GET', '/api/users/:uuid/', { uuid: '@me' })
  const name = {
    name: 'first_name',
    label: 'First name',
    type: 'text',
    autocomplete: 'given-name',
    value: first_name,
  } as const
  const fields = me.status === 200 ? [] : [name, { ...newPassword, label: 'Choose a password' }]
  return {
    page: {
      title: `Join ${organization_name}`,
      error,
      text: `As ${target_email}.`,
      form: { fields, button: 'Join' },
    },
  }
}

function welcome(text: string, isStranger: boolean): Page {
  const links = [{ href: '/docs', label: 'API pages' }]
  return isStranger
    ? { title: 'Welcome', text, links: [{ href: '/login', label: 'Sign in' }, ...links] }
    : { title: 'Welcome', text, form: { fields: [], button: 'Sign out' }, links }
}

function loginPage(error: string | null, typed?: string): Page {
  const fields = [typed === undefined ? email : { ...email, value: typed }, password]
  return {
    title: 'Sign in',
    error,
    form: { fields, button: 'Sign in' },
    links: [{ href: '/reset', label: 'Forgotten password' }],
  }
}

function secondFactorPage(error: string | null, next: string): Page {
  const text = 'Enter the code of your authenticator app, or one of your backup codes.'
  const action = `/login/token?next=${encodeURIComponent(next)}`
  return { title: 'Second factor', error, text, form: { fields: [code], button: 'Continue', action } }
}

function resetRequestPage(error: string | null): Page {
  return { title: 'Reset your password', error, form: { fields: [email], button: 'Send me a link' } }
}

function newPasswordPage(error: string | null): Page {
  const fields = [newPassword, endKeys]
  return { title: 'Set a new password', error, form: { fields, button: 'Set password' } }
}

function passwordSetPage(keysLeft = '0'): Page {
  const keys = keysLeft === '0' ? '' : ` Personal API keys that still work: ${keysLeft}.`
  return {
    title: 'Done',
    text: `Your new password is set.${keys}`,
    links: [{ href: '/login', label: 'Sign in' }],
  }
}

function deadLink(detail: string): Page {
  return {
    title: 'This link does not work any more',
    error: detail,
    links: [{ href: '/login', label: 'Sign in' }],
  }
}

function pick(form: Record<string, string>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.filter((name) => form[name]).map((name) => [name, form[name]!]))
}

/** Where to go after signing in: a path of our own and nothing else, however it is spelled. */
export function nextOf({ query }: Pick<Visit, 'query'>): string {
  const next = query.next ?? '/'
  return /^\/[a-z0-9_\-/]*$/i.test(next) && !next.startsWith('//') ? next : '/'
}

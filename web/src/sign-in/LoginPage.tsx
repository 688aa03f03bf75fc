// Signing in. What the address says decides: the page as anybody opens it, or one that a provider sent the browser back to.
import { getRouteApi } from '@tanstack/react-router'
import { CodeForm } from './CodeForm'
import { LinkForm } from './LinkForm'
import { nextOf } from './next'
import { isRefusal, Refused } from './Refused'
import { SignIn } from './SignIn'

const route = getRouteApi('/login')

export function LoginPage() {
  const { next: wanted, email = '', step, link, provider = '', error_code, sign_in } = route.useSearch()
  const next = nextOf(wanted)
  if (step === 'code') return <CodeForm next={next} />
  if (link !== undefined) return <LinkForm link={link} email={email} provider={provider} />
  if (isRefusal(error_code)) return <Refused code={error_code} id={sign_in} />
  return <SignIn key={email} email={email} next={next} />
}

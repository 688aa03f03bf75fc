// What signing up, signing in and resetting take and give.
import { z } from 'zod'
import { email, text, verbatim } from '../../platform/http/fields.ts'
import { User } from '../users/schema.ts'

const password = verbatim({ max: 1000 })
const first_name = text({ max: 128 })
const role_at_organization = text({ max: 64, blank: true })

export const Done = z.object({ success: z.boolean() })
export const SignedUp = User.extend({ redirect_url: z.string() }).meta({ id: 'SignedUp' })

export const Login = z.object({ email: email(), password })
export const SecondFactor = z.object({ token: text({ max: 100 }) })
export const EmailOnly = z.object({ email: email() })
export const Precheck = z.object({ sso_enforcement: z.string().nullable(), saml_available: z.boolean() })

export const SignUp = z.object({
  first_name,
  email: email(),
  password,
  organization_name: text({ max: 64, blank: true }).optional(),
  last_name: text({ max: 150, blank: true }).optional(),
  role_at_organization: role_at_organization.optional(),
  referral_source: text({ max: 1000, blank: true }).optional(),
})

/** Signed-in users send an empty body, so the two required fields are asked for in accept-invite.ts. */
export const InviteAcceptance = z.object({
  first_name: first_name.optional(),
  password: password.optional(),
  role_at_organization: role_at_organization.optional(),
})

export const InvitePreview = z
  .object({ id: z.string(), target_email: z.string(), first_name: z.string(), organization_name: z.string() })
  .meta({ id: 'InvitePreview' })

export const ResetTokenQuery = z.object({ token: z.string().max(200) })
export const PasswordReset = z.object({ token: text({ max: 200 }), password })
export const EmailVerification = z.object({ token: text({ max: 200 }) })
export const EmailVerified = z.object({ success: z.boolean(), token: z.string() })

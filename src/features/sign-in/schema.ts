// What signing up, signing in and resetting take and give.
import { z } from 'zod'
import { bool, email, text, verbatim } from '../../platform/http/fields.ts'
import { User } from '../users/schema.ts'

const password = verbatim({ max: 1000 })
const first_name = text({ max: 128 })
const role_at_organization = text({ max: 64, blank: true })

export const Done = z.object({ success: z.boolean() })
export const SignedUp = User.extend({ redirect_url: z.string() }).meta({ id: 'SignedUp' })

export const Login = z.object({ email: email(), password })
export const SecondFactor = z.object({ token: text({ max: 100 }) })
/** `token` where a second factor is set up. */
export const Confirmation = z.object({ password, token: text({ max: 100 }).optional() })
export const EmailOnly = z.object({ email: email() })
export const Precheck = z.object({
  sso_enforcement: z.string().nullable(),
  saml_available: z.boolean(),
  oidc_available: z.boolean(),
})

export const SignUp = z.object({
  first_name,
  email: email(),
  password,
  organization_name: text({ max: 64, blank: true }).optional(),
  last_name: text({ max: 150, blank: true }).optional(),
  role_at_organization: role_at_organization.optional(),
  referral_source: text({ max: 1000, blank: true }).optional(),
})

export const NewAccount = z.object({
  first_name,
  password,
  role_at_organization: role_at_organization.optional(),
})
export type NewAccount = z.output<typeof NewAccount>

/** What a signed-in caller sends is not looked at, whatever it is; a visitor must send a NewAccount. */
export const InviteAcceptance = z.union([NewAccount, z.unknown()])

export const InvitePreview = z
  .object({ id: z.string(), target_email: z.string(), first_name: z.string(), organization_name: z.string() })
  .meta({ id: 'InvitePreview' })

export const ResetTokenQuery = z.object({ token: z.string().max(200) })
export const PasswordReset = z.object({
  token: text({ max: 200 }),
  password,
  delete_personal_api_keys: bool().optional(),
})
export const RecoveryLink = z.object({ token: text({ max: 200 }) })
export const AddressUndoLink = z.object({ token: text({ max: 200 }) })
export const EmailVerification = z.object({ token: text({ max: 200 }) })
export const EmailVerified = z.object({ success: z.boolean(), token: z.string() })

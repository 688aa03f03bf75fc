// The attributes of users and groups, as RFC 7643 declares them: what bodies, filters, patches and selections are read by,
// and what /Schemas shows. An attribute that is not in here is not kept.

export type Attribute = {
  name: string
  type: 'string' | 'boolean' | 'complex' | 'dateTime' | 'reference' | 'binary'
  description: string
  is_multi?: true
  subs?: readonly Attribute[]
  is_required?: true
  is_case_exact?: true
  mutability?: 'readOnly' | 'writeOnly'
  returned?: 'always' | 'never'
  uniqueness?: 'server'
}

export type ResourceType = {
  name: 'User' | 'Group'
  endpoint: 'Users' | 'Groups'
  schema: string
  description: string
  /** Its own, then those that every resource has. */
  attributes: readonly Attribute[]
  extensions: readonly { schema: string; name: string; attributes: readonly Attribute[] }[]
}

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

const text = (name: string, description: string, more: Partial<Attribute> = {}): Attribute => ({
  name,
  type: 'string',
  description,
  ...more,
})

const complex = (
  name: string,
  description: string,
  subs: readonly Attribute[],
  more: Partial<Attribute> = {},
): Attribute => ({ name, type: 'complex', description, subs, ...more })

/** A list of values, each with a kind, of which one may be the primary one. */
const plural = (name: string, description: string, more: Partial<Attribute> = {}): Attribute =>
  complex(
    name,
    description,
    [
      text('value', 'The value itself.', more),
      text('display', 'A name to show.'),
      text('type', 'What it is used for, such as work or home.'),
      { name: 'primary', type: 'boolean', description: 'The preferred one; true for one at most.' },
    ],
    { is_multi: true },
  )

const reference = (description: string, more: Partial<Attribute> = {}): Attribute => ({
  name: '$ref',
  type: 'reference',
  description,
  is_case_exact: true,
  ...more,
})

/** RFC 7643 §3.1. */
const COMMON: readonly Attribute[] = [
  {
    name: 'schemas',
    type: 'reference',
    description: 'The schemas that the resource uses.',
    is_multi: true,
    is_case_exact: true,
    mutability: 'readOnly',
    returned: 'always',
  },
  text('id', 'Given by this server.', { is_case_exact: true, mutability: 'readOnly', returned: 'always' }),
  text('externalId', "The directory's own id.", { is_case_exact: true }),
  complex(
    'meta',
    'About the resource.',
    [
      text('resourceType', 'User or Group.', { is_case_exact: true, mutability: 'readOnly' }),
      { name: 'created', type: 'dateTime', description: 'When it was made.', mutability: 'readOnly' },
      {
        name: 'lastModified',
        type: 'dateTime',
        description: 'When it last changed.',
        mutability: 'readOnly',
      },
      { ...reference('Its address.', { mutability: 'readOnly' }), name: 'location' },
      text('version', 'Its ETag.', { is_case_exact: true, mutability: 'readOnly' }),
    ],
    { mutability: 'readOnly' },
  ),
]

const USER_ATTRIBUTES: readonly Attribute[] = [
  text('userName', 'What the person signs in with at the directory. Unique, in any case.', {
    is_required: true,
    uniqueness: 'server',
  }),
  complex('name', 'The parts of the name.', [
    text('formatted', 'The full name.'),
    text('familyName', 'Last name.'),
    text('givenName', 'First name.'),
    text('middleName', 'Middle name.'),
    text('honorificPrefix', 'Title before the name.'),
    text('honorificSuffix', 'Suffix after the name.'),
  ]),
  text('displayName', 'The name to show.'),
  text('nickName', 'The casual name.'),
  { name: 'profileUrl', type: 'reference', description: 'A page about the person.' },
  text('title', 'Job title.'),
  text('userType', 'Such as employee or contractor.'),
  text('preferredLanguage', 'Preferred languages.'),
  text('locale', 'For dates and numbers.'),
  text('timezone', 'Time zone.'),
  { name: 'active', type: 'boolean', description: 'Whether the person is a member of the organization.' },
  text('password', 'Taken and forgotten: people sign in through their provider.', {
    mutability: 'writeOnly',
    returned: 'never',
  }),
  plural('emails', 'Addresses. The primary one, or one of work, is that of the account.'),
  plural('phoneNumbers', 'Phone numbers.'),
  plural('ims', 'Instant messaging addresses.'),
  plural('photos', 'Addresses of pictures.', { is_case_exact: true }),
  complex(
    'addresses',
    'Postal addresses.',
    [
      text('formatted', 'The address as it is written on a letter.'),
      text('streetAddress', 'Street and number.'),
      text('locality', 'City.'),
      text('region', 'State or region.'),
      text('postalCode', 'Postal code.'),
      text('country', 'Country.'),
      text('type', 'Such as work or home.'),
      { name: 'primary', type: 'boolean', description: 'The preferred one.' },
    ],
    { is_multi: true },
  ),
  complex(
    'groups',
    'The groups that the person is in. They are changed at the group.',
    [
      text('value', 'Id of the group.', { is_case_exact: true, mutability: 'readOnly' }),
      reference('Address of the group.', { mutability: 'readOnly' }),
      text('display', 'Name of the group.', { mutability: 'readOnly' }),
      text('type', 'Always direct.', { mutability: 'readOnly' }),
    ],
    { is_multi: true, mutability: 'readOnly' },
  ),
  plural('entitlements', 'Entitlements.'),
  plural('roles', 'Roles at the directory. They mean nothing here: map groups instead.'),
  plural('x509Certificates', 'Certificates.', { is_case_exact: true }),
]

const ENTERPRISE_ATTRIBUTES: readonly Attribute[] = [
  text('employeeNumber', 'Employee number.'),
  text('costCenter', 'Cost center.'),
  text('organization', 'Organization.'),
  text('division', 'Division.'),
  text('department', 'Department.'),
  complex('manager', "The person's manager.", [
    text('value', "Id of the manager's resource.", { is_case_exact: true }),
    reference("Address of the manager's resource."),
    text('displayName', "The manager's name."),
  ]),
]

export const USER: ResourceType = {
  name: 'User',
  endpoint: 'Users',
  schema: 'urn:ietf:params:scim:schemas:core:2.0:User',
  description: 'People of the organization that the directory knows.',
  attributes: [...USER_ATTRIBUTES, ...COMMON],
  extensions: [{ schema: ENTERPRISE, name: 'EnterpriseUser', attributes: ENTERPRISE_ATTRIBUTES }],
}

export const GROUP: ResourceType = {
  name: 'Group',
  endpoint: 'Groups',
  schema: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  description: 'Groups of people. An admin maps them to levels and projects.',
  attributes: [
    text('displayName', 'Name of the group. Unique, in any case.', {
      is_required: true,
      uniqueness: 'server',
    }),
    complex(
      'members',
      'The people in the group.',
      [
        text('value', "Id of the person's resource.", { is_case_exact: true }),
        reference("Address of the person's resource."),
        text('display', "The person's userName.", { mutability: 'readOnly' }),
        text('type', 'Always User: groups in groups are not taken.'),
      ],
      { is_multi: true },
    ),
    ...COMMON,
  ],
  extensions: [],
}

export const isCommon = (attribute: Attribute) => COMMON.includes(attribute)

/** Names are compared without case (RFC 7643 §2.1). */
export function attributeNamed(list: readonly Attribute[], name: string): Attribute | undefined {
  const folded = name.toLowerCase()
  return list.find((attribute) => attribute.name.toLowerCase() === folded)
}

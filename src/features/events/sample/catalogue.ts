// What the sample shop sells, and what its visitors come with. Shares are weights; names and addresses are made up, and
// all hosts and networks that stand for people are those reserved for examples.

export const SHOP = 'https://shop.example.com'
export const CURRENCY = 'USD'

export const PRODUCTS = [
  ['trail-shoes', 'Trail Shoes', 'outdoor', 119],
  ['rain-jacket', 'Rain Jacket', 'outdoor', 149.5],
  ['day-pack', 'Day Pack 22 l', 'outdoor', 79],
  ['camp-stove', 'Camp Stove', 'outdoor', 54.9],
  ['head-torch', 'Head Torch', 'outdoor', 34],
  ['espresso-cups', 'Espresso Cups, Set of 4', 'kitchen', 28],
  ['chef-knife', "Chef's Knife 20 cm", 'kitchen', 89],
  ['cast-iron-pan', 'Cast Iron Pan', 'kitchen', 45],
  ['pour-over', 'Pour-over Coffee Maker', 'kitchen', 39.9],
  ['desk-lamp', 'Desk Lamp', 'office', 64],
  ['notebook-a5', 'Notebook A5, Dotted', 'office', 14.5],
  ['standing-mat', 'Standing Desk Mat', 'office', 72],
  ['fountain-pen', 'Fountain Pen', 'office', 49],
  ['wool-blanket', 'Wool Blanket', 'home', 98],
  ['linen-sheets', 'Linen Sheets', 'home', 159],
  ['plant-pot', 'Plant Pot, Terracotta', 'home', 19],
].map(([id, name, category, price]) => ({
  id: id as string,
  name: name as string,
  category: category as string,
  price: price as number,
}))
export type Product = (typeof PRODUCTS)[number]

export const CATEGORIES = [...new Set(PRODUCTS.map(({ category }) => category))]
export const ARTICLES = [
  'how-we-test-boots',
  'coffee-at-home',
  'a-calm-desk',
  'caring-for-cast-iron',
  'winter-sleep',
]
export const SEARCHES = ['shoes', 'coffee', 'lamp', 'gift', 'blanket', 'knife', 'rain', 'desk']

const WINDOWS = { $os: 'Windows', $os_version: '10.0.0', $device_type: 'Desktop' }
const MAC = { $os: 'Mac OS X', $os_version: '10.15.7', $device_type: 'Desktop' }
const LINUX = { $os: 'Linux', $os_version: '', $device_type: 'Desktop' }
const IPHONE = { $os: 'iOS', $os_version: '17.5.1', $device_type: 'Mobile' }
const IPAD = { $os: 'iOS', $os_version: '17.5.1', $device_type: 'Tablet' }
const ANDROID = { $os: 'Android', $os_version: '14.0', $device_type: 'Mobile' }

export const PLATFORMS = [
  {
    share: 24,
    system: WINDOWS,
    browser: 'Chrome',
    versions: [122, 124, 125, 126],
    screens: [
      [1920, 1080],
      [1536, 864],
    ],
  },
  {
    share: 7,
    system: WINDOWS,
    browser: 'Microsoft Edge',
    versions: [124, 125, 126],
    screens: [
      [1920, 1080],
      [1366, 768],
    ],
  },
  { share: 3, system: WINDOWS, browser: 'Firefox', versions: [115, 126, 127], screens: [[1920, 1080]] },
  {
    share: 9,
    system: MAC,
    browser: 'Chrome',
    versions: [124, 125, 126],
    screens: [
      [1512, 982],
      [1440, 900],
    ],
  },
  {
    share: 6,
    system: MAC,
    browser: 'Safari',
    versions: [16, 17],
    screens: [
      [1440, 900],
      [1728, 1117],
    ],
  },
  { share: 2, system: LINUX, browser: 'Firefox', versions: [126, 127], screens: [[1920, 1080]] },
  {
    share: 24,
    system: IPHONE,
    browser: 'Mobile Safari',
    versions: [16, 17],
    screens: [
      [390, 844],
      [393, 852],
    ],
  },
  {
    share: 20,
    system: ANDROID,
    browser: 'Chrome',
    versions: [123, 125, 126],
    screens: [
      [360, 800],
      [412, 915],
    ],
  },
  { share: 3, system: ANDROID, browser: 'Samsung Internet', versions: [24, 25], screens: [[384, 854]] },
  { share: 2, system: IPAD, browser: 'Mobile Safari', versions: [16, 17], screens: [[820, 1180]] },
] as const

export const PLACES = [
  { share: 38, country: 'US', timezone: 'America/Chicago', language: 'en-US' },
  { share: 11, country: 'GB', timezone: 'Europe/London', language: 'en-GB' },
  { share: 10, country: 'DE', timezone: 'Europe/Berlin', language: 'de-DE' },
  { share: 9, country: 'IN', timezone: 'Asia/Kolkata', language: 'en-IN' },
  { share: 7, country: 'FR', timezone: 'Europe/Paris', language: 'fr-FR' },
  { share: 6, country: 'CA', timezone: 'America/Toronto', language: 'en-CA' },
  { share: 6, country: 'BR', timezone: 'America/Recife', language: 'pt-BR' },
  { share: 5, country: 'NL', timezone: 'Europe/Amsterdam', language: 'nl-NL' },
  { share: 4, country: 'AU', timezone: 'Australia/Perth', language: 'en-AU' },
  { share: 4, country: 'JP', timezone: 'Asia/Tokyo', language: 'ja-JP' },
] as const

const DIRECT = { $referrer: '$direct', $referring_domain: '$direct' }
const from = (host: string) => ({ $referrer: `https://${host}/`, $referring_domain: host })
const campaign = (utm_source: string, utm_medium: string, utm_campaign: string) => ({
  utm_source,
  utm_medium,
  utm_campaign,
})

/** How a visit began. */
export const ORIGINS = [
  { share: 34, properties: DIRECT },
  { share: 30, properties: from('www.google.com') },
  {
    share: 12,
    properties: {
      ...from('www.google.com'),
      ...campaign('google', 'cpc', 'spring_sale'),
      gclid: 'CjwKCAsample',
    },
  },
  { share: 9, properties: { ...DIRECT, ...campaign('newsletter', 'email', 'weekly_digest') } },
  {
    share: 6,
    properties: { ...from('www.instagram.com'), ...campaign('instagram', 'social', 'new_arrivals') },
  },
  { share: 4, properties: from('www.bing.com') },
  { share: 3, properties: from('news.ycombinator.com') },
  { share: 2, properties: from('blog.example.org') },
] as const

export const FIRST_NAMES = [
  'Ada',
  'Ben',
  'Chiara',
  'Deniz',
  'Elif',
  'Femi',
  'Grace',
  'Hugo',
  'Ines',
  'Jonas',
  'Kenji',
  'Lena',
]
export const LAST_NAMES = [
  'Adeyemi',
  'Bauer',
  'Costa',
  'Dubois',
  'Evans',
  'Fischer',
  'Garcia',
  'Haas',
  'Ito',
  'Jansen',
  'Khan',
]
export const COMPANIES = [
  'Northwind',
  'Bluebird',
  'Harbor',
  'Granite',
  'Juniper',
  'Lumen',
  'Meridian',
  'Orchard',
  'Quarry',
]
export const INDUSTRIES = ['retail', 'software', 'education', 'manufacturing', 'media']
export const PLANS = [
  { share: 70, plan: 'free' },
  { share: 22, plan: 'plus' },
  { share: 8, plan: 'business' },
] as const

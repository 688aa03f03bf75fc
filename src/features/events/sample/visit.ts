// What happens in one visit to the sample shop, step by step and without end: the caller takes as many steps as it wants.
import type { JsonObject } from '../../../lib/json-object.ts'
import { ARTICLES, CATEGORIES, CURRENCY, PRODUCTS, SEARCHES, SHOP, type Product } from './catalogue.ts'
import { autocapture } from './clicks.ts'
import type { Random } from './random.ts'
import type { Visitor } from './visitors.ts'

export type Step = {
  event: string
  properties: JsonObject
  /** Time since the step before. */
  gap_ms: number
  /** From here on the visitor is known by their account. */
  signs_in?: boolean
}

type Page = { path: string; title: string; product?: Product }

const HOME: Page = { path: '/', title: 'Sample Shop' }
const CHECKOUT: Page = { path: '/checkout', title: 'Checkout' }
const SIGN_UP: Page = { path: '/signup', title: 'Create an account' }

/** A newcomer with an account to make does so on the second page. */
export function* visit(random: Random, visitor: Visitor, isFirst: boolean): Generator<Step, never> {
  const cart: Product[] = []
  let page = random.chance(0.45) ? HOME : nextPage(random)
  let isNewcomer = isFirst && visitor.account !== null
  for (;;) {
    yield step('$pageview', page, 400)
    if (page.product) yield* look(random, page, page.product, cart)
    else if (random.chance(0.4))
      yield step('$autocapture', page, reading(random), autocapture(random, 'link'))
    if (page === HOME && random.chance(0.2))
      yield step('search performed', page, 4_000, {
        query: random.pick(SEARCHES),
        results: random.between(0, 24),
      })
    yield step('$pageleave', page, reading(random))
    if (isNewcomer) yield* signUp(random, visitor)
    isNewcomer = false
    if (cart.length > 0 && random.chance(0.4)) yield* checkOut(random, cart)
    page = nextPage(random)
  }
}

function* look(random: Random, page: Page, product: Product, cart: Product[]): Generator<Step> {
  const facts = {
    product_id: product.id,
    product_name: product.name,
    category: product.category,
    price: product.price,
  }
  yield step('product viewed', page, 300, facts)
  if (!random.chance(0.35)) return
  yield step('$autocapture', page, reading(random), autocapture(random, 'button'))
  yield step('product added to cart', page, 200, { ...facts, quantity: 1 })
  cart.push(product)
}

function* signUp(random: Random, { account, device_id }: Visitor): Generator<Step> {
  if (account === null) return
  yield step('$pageview', SIGN_UP, 500)
  yield step('$autocapture', SIGN_UP, 25_000, autocapture(random, 'submit'))
  const { email, name, plan, company } = account
  const $set = { email, name, plan }
  yield { ...step('$identify', SIGN_UP, 300, { $anon_distinct_id: device_id, $set }), signs_in: true }
  yield step('signed up', SIGN_UP, 100, { plan, method: random.pick(['password', 'google']) })
  if (company === null) return
  const { key, ...$group_set } = company
  yield step('$groupidentify', SIGN_UP, 100, { $group_type: 'company', $group_key: key, $group_set })
}

function* checkOut(random: Random, cart: Product[]): Generator<Step> {
  yield step('$pageview', CHECKOUT, 700)
  if (random.chance(0.3)) return
  yield step('$autocapture', CHECKOUT, 35_000, autocapture(random, 'submit'))
  const revenue = Math.round(cart.reduce((sum, { price }) => sum + price, 0) * 100) / 100
  yield step('order completed', CHECKOUT, 900, {
    order_id: `ord_${random.hex(3)}`,
    revenue,
    currency: CURRENCY,
    items: cart.length,
    products: cart.map(({ id }) => id),
    coupon: random.chance(0.15) ? 'SPRING10' : null,
  })
  cart.length = 0
}

function nextPage(random: Random): Page {
  const chance = random.next()
  if (chance < 0.45) {
    const product = random.pick(PRODUCTS)
    return { path: `/products/${product.id}`, title: product.name, product }
  }
  if (chance < 0.75) {
    const category = random.pick(CATEGORIES)
    return { path: `/categories/${category}`, title: `${category} | Sample Shop` }
  }
  if (chance < 0.88) {
    const article = random.pick(ARTICLES)
    return { path: `/journal/${article}`, title: article.replaceAll('-', ' ') }
  }
  return HOME
}

function reading(random: Random): number {
  return Math.min(1_500 + random.exponential(22_000), 240_000)
}

function step(event: string, { path, title }: Page, gap_ms: number, properties: JsonObject = {}): Step {
  return {
    event,
    gap_ms,
    properties: {
      $current_url: `${SHOP}${path}`,
      $host: 'shop.example.com',
      $pathname: path,
      title,
      ...properties,
    },
  }
}

// Clicks as browsers' libraries tell them: the element and those around it.
import type { JsonObject } from '../../../lib/json-object.ts'
import type { Random } from './random.ts'

type Kind = 'link' | 'button' | 'submit'

const TEXTS: Record<Kind, readonly string[]> = {
  link: ['Outdoor', 'Kitchen', 'Office', 'Home', 'Journal', 'Read more', 'See all'],
  button: ['Add to cart', 'Buy now'],
  submit: ['Place order', 'Continue'],
}

export function autocapture(random: Random, kind: Kind): JsonObject {
  const text = random.pick(TEXTS[kind])
  const place = random.between(1, 6)
  return {
    $event_type: kind === 'submit' ? 'submit' : 'click',
    $elements: [clicked(kind, text, place), ...around(kind)],
  }
}

function clicked(kind: Kind, $el_text: string, place: number): JsonObject {
  const position = { nth_child: place, nth_of_type: place }
  if (kind === 'link') {
    const attr__href = `/categories/${$el_text.toLowerCase().replaceAll(' ', '-')}`
    return { tag_name: 'a', $el_text, attr__href, attr__class: 'nav-link', ...position }
  }
  return { tag_name: 'button', $el_text, attr__class: 'btn btn-primary', attr__type: kind, ...position }
}

function around(kind: Kind): JsonObject[] {
  const parent = kind === 'link' ? 'nav' : kind === 'submit' ? 'form' : 'section'
  return [
    { tag_name: parent, attr__class: `${parent}-main`, nth_child: 2, nth_of_type: 1 },
    { tag_name: 'body', nth_child: 2, nth_of_type: 1 },
  ]
}

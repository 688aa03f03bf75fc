// The plugin interface for the editor: types/app.d.ts, read into members by name, so that what is completed is what the
// file says.
import { typescriptLanguage } from '@codemirror/lang-javascript'
import source from '../../../../types/app.d.ts?raw'

export type SyntaxNode = ReturnType<typeof typescriptLanguage.parser.parse>['topNode']

/** `members` of a type that is written out on the spot; `ref` names an interface. */
export type AppType = { text: string; ref?: string; members?: ReadonlyMap<string, Member> }
export type Member = { name: string; doc: string; type: AppType; parameters: readonly Parameter[] | null }
export type Parameter = { name: string; type: AppType }

export type AppTypes = {
  interfaces: ReadonlyMap<string, ReadonlyMap<string, Member>>
  globals: ReadonlyMap<string, Member>
}

const text = (node: SyntaxNode) => source.slice(node.from, node.to)

export function readAppTypes(): AppTypes {
  const interfaces = new Map<string, ReadonlyMap<string, Member>>()
  const globals = new Map<string, Member>()
  typescriptLanguage.parser.parse(source).iterate({
    enter({ name, node }) {
      if (name === 'InterfaceDeclaration') {
        const body = node.getChild('ObjectType')
        const title = node.getChild('TypeDefinition')
        if (body && title) interfaces.set(text(title), membersOf(body))
        return false
      }
      if (name === 'VariableDeclaration') {
        const named = node.getChild('VariableDefinition')
        const type = node.getChild('TypeAnnotation')
        if (named)
          globals.set(text(named), { name: text(named), doc: '', type: typeOf(type), parameters: null })
        return false
      }
      return undefined
    },
  })
  return { interfaces, globals }
}

function membersOf(body: SyntaxNode): Map<string, Member> {
  const members = new Map<string, Member>()
  for (let node = body.firstChild; node !== null; node = node.nextSibling) {
    if (node.name !== 'PropertyType' && node.name !== 'MethodType') continue
    const named = node.getChild('PropertyDefinition')
    if (!named) continue
    const list = node.getChild('ParamList')
    members.set(text(named), {
      name: text(named),
      doc: docBefore(node),
      type: typeOf(node.getChild('TypeAnnotation')),
      parameters: list ? parametersOf(list) : null,
    })
  }
  return members
}

function parametersOf(list: SyntaxNode): Parameter[] {
  const parameters: Parameter[] = []
  for (let node = list.firstChild; node !== null; node = node.nextSibling) {
    if (node.name === 'VariableDefinition') parameters.push({ name: text(node), type: { text: '' } })
    else if (node.name === 'TypeAnnotation' && parameters.length > 0) parameters.at(-1)!.type = typeOf(node)
  }
  return parameters
}

/** The type that `: Type` says, with what it names or holds. */
function typeOf(annotation: SyntaxNode | null): AppType {
  if (!annotation) return { text: '' }
  const written = text(annotation)
    .replace(/^\s*:\s*/, '')
    .replace(/\s+/g, ' ')
  const body = annotation.getChild('ObjectType')
  if (body) return { text: written, members: membersOf(body) }
  const [, keys] = /^Record<\s*((?:'\w+'\s*\|?\s*)+),/.exec(written) ?? []
  if (keys !== undefined) return { text: written, members: recordMembers(keys) }
  const [, ref] = /^(?:NonNullable<)?([A-Z]\w+)/.exec(written) ?? []
  return ref === undefined ? { text: written } : { text: written, ref }
}

function recordMembers(keys: string): Map<string, Member> {
  const names = keys.match(/\w+/g) ?? []
  return new Map(names.map((name) => [name, { name, doc: '', type: { text: '' }, parameters: [] }]))
}

function docBefore(node: SyntaxNode): string {
  const before = node.prevSibling
  if (before?.name !== 'BlockComment') return ''
  return text(before)
    .replace(/^\/\*\*?|\*\/$/g, '')
    .replace(/\n\s*\*/g, ' ')
    .trim()
}

// Completion of apps: members of events, of meta and of what they lead to, settings by their keys, properties of the event
// that is tried, and the functions that an app may export.
import {
  snippetCompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete'
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'
import { readAppTypes, type AppType, type AppTypes, type Member, type SyntaxNode } from './app-types'

/** What is known besides the types. */
export type Known = { settings: readonly string[]; properties: readonly string[] }

const CHAIN = /([A-Za-z_$][\w$]*(?:\s*\??\.\s*[A-Za-z_$][\w$]*)*)\s*\??\.\s*([\w$]*)$/
const FUNCTIONS = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunction',
  'MethodDeclaration',
  'Property',
])
/** Half a tree knows no functions: on a busy machine it is worth a moment. */
const PARSE_MS = 500

let types: AppTypes | null = null

export function completeApp(known: () => Known) {
  return (context: CompletionContext): CompletionResult | null => {
    types ??= readAppTypes()
    const before = context.state.sliceDoc(Math.max(0, context.pos - 300), context.pos)
    const chain = CHAIN.exec(before)
    if (chain) return completeMember(types, context, chain, known())
    const word = context.matchBefore(/[A-Za-z_$][\w$]*$/)
    if (!word && !context.explicit) return null
    return { from: word?.from ?? context.pos, options: namesInScope(types, context), validFor: /^[\w$]*$/ }
  }
}

function completeMember(
  types: AppTypes,
  context: CompletionContext,
  [, path, typed]: RegExpExecArray,
  known: Known,
): CompletionResult | null {
  const names = path!.split(/\s*\??\.\s*/)
  const from = context.pos - typed!.length
  const options = memberOptions(types, context, names, known)
  return options.length === 0 ? null : { from, options, validFor: /^[\w$]*$/ }
}

function memberOptions(
  types: AppTypes,
  context: CompletionContext,
  names: readonly string[],
  known: Known,
): Completion[] {
  const [root, ...rest] = names
  const variable = variablesAt(types, context).get(root!) ?? types.globals.get(root!)
  if (!variable) return []
  let at: Member = variable
  for (const name of rest) {
    const next = membersOfType(types, at.type)?.get(name)
    if (!next) return []
    at = next
  }
  if (at.name === 'config')
    return known.settings.map((key) => ({ label: key, type: 'property', detail: 'setting' }))
  if (at.name === 'properties')
    return known.properties
      .filter(isName)
      .map((key) => ({ label: key, type: 'property', detail: 'of this event' }))
  return [...(membersOfType(types, at.type)?.values() ?? [])].map(optionOf)
}

const isName = (key: string) => /^[A-Za-z_$][\w$]*$/.test(key)

function membersOfType(
  { interfaces }: AppTypes,
  { members, ref }: AppType,
): ReadonlyMap<string, Member> | undefined {
  return members ?? (ref === undefined ? undefined : interfaces.get(ref))
}

function optionOf({ name, doc, type, parameters }: Member): Completion {
  const detail = parameters === null ? type.text : `(${parameters.map((each) => each.name).join(', ')})`
  return {
    label: name,
    type: parameters === null ? 'property' : 'method',
    ...(detail === '' ? {} : { detail: detail.length > 40 ? `${detail.slice(0, 39)}…` : detail }),
    ...(doc === '' ? {} : { info: doc }),
  }
}

/** Parameters of the functions around the cursor, by name, the nearest first. */
function variablesAt(types: AppTypes, { state, pos }: CompletionContext): Map<string, Member> {
  const variables = new Map<string, Member>()
  for (
    let node: SyntaxNode | null = treeOf(state, pos).resolveInner(pos, -1);
    node !== null;
    node = node.parent
  ) {
    if (!FUNCTIONS.has(node.name)) continue
    const list = node.getChild('ParamList')
    if (!list) continue
    const expected = parametersOfHook(
      types,
      functionName(node, (from, to) => state.sliceDoc(from, to)),
    )
    for (const variable of parametersIn(types, list, expected, (from, to) => state.sliceDoc(from, to))) {
      if (!variables.has(variable.name)) variables.set(variable.name, variable)
    }
  }
  return variables
}

const treeOf = (state: EditorState, pos: number) =>
  ensureSyntaxTree(state, pos, PARSE_MS) ?? syntaxTree(state)

type Slice = (from: number, to: number) => string

function functionName(node: SyntaxNode, slice: Slice): string {
  const own = node.getChild('VariableDefinition') ?? node.getChild('PropertyDefinition')
  const outer =
    own ?? node.parent?.getChild('VariableDefinition') ?? node.parent?.getChild('PropertyDefinition')
  return outer ? slice(outer.from, outer.to) : ''
}

/** What the functions of an app get, as the interface `Plugin` says; jobs get a payload and meta. */
function parametersOfHook({ interfaces }: AppTypes, name: string): readonly AppType[] {
  const hook = interfaces.get('Plugin')?.get(name)
  return (hook?.parameters ?? []).map(({ type }) => (type.text.endsWith('[]') ? { text: type.text } : type))
}

function parametersIn(
  types: AppTypes,
  list: SyntaxNode,
  expected: readonly AppType[],
  slice: Slice,
): Member[] {
  const found: Member[] = []
  let place = -1
  for (let node = list.firstChild; node !== null; node = node.nextSibling) {
    if (node.name !== 'VariableDefinition' && node.name !== 'ObjectPattern') continue
    place += 1
    const annotation = node.nextSibling?.name === 'TypeAnnotation' ? node.nextSibling : null
    const [, ref] = annotation
      ? (/^:\s*([A-Z]\w+)(?!\s*\[)/.exec(slice(annotation.from, annotation.to)) ?? [])
      : []
    const type: AppType = annotation
      ? ref === undefined
        ? { text: '' }
        : { text: ref, ref: ref === 'Meta' ? 'PluginMeta' : ref }
      : (expected[place] ?? { text: '' })
    if (node.name === 'VariableDefinition')
      found.push({ name: slice(node.from, node.to), doc: '', type, parameters: null })
    else found.push(...destructured(types, node, type, slice))
  }
  return found
}

function destructured(types: AppTypes, pattern: SyntaxNode, type: AppType, slice: Slice): Member[] {
  const members = membersOfType(types, type)
  return pattern.getChildren('PatternProperty').flatMap((property) => {
    const key = property.getChild('PropertyName')
    const alias = property.getChild('VariableDefinition')
    const name = key ?? alias
    const member = name ? members?.get(slice(name.from, name.to)) : undefined
    // Under another name it is what it was; settings and properties are told by theirs.
    return member && name ? [alias && key ? { ...member, name: slice(alias.from, alias.to) } : member] : []
  })
}

function namesInScope(types: AppTypes, context: CompletionContext): Completion[] {
  const variables = [...variablesAt(types, context).values()]
  const globals: Completion[] = [
    { label: 'posthog', type: 'variable', detail: 'capture, api' },
    { label: 'fetch', type: 'function', detail: '(address, options)' },
    { label: 'RetryError', type: 'class', info: 'Throw it, and the call is made again later.' },
  ]
  return [
    ...variables.map(({ name, type, doc }) => ({
      label: name,
      type: 'variable',
      detail: type.text.slice(0, 40),
      ...(doc === '' ? {} : { info: doc }),
      boost: 1,
    })),
    ...globals,
    ...(isTopLevel(context) ? hookOptions(types) : []),
  ]
}

function isTopLevel({ state, pos }: CompletionContext): boolean {
  for (
    let node: SyntaxNode | null = treeOf(state, pos).resolveInner(pos, -1);
    node !== null;
    node = node.parent
  ) {
    if (FUNCTIONS.has(node.name) && node.getChild('ParamList')) return false
  }
  return true
}

/** The functions that Longshore calls, ready to be filled. */
function hookOptions({ interfaces }: AppTypes): Completion[] {
  return [...(interfaces.get('Plugin')?.values() ?? [])]
    .filter(({ parameters }) => parameters !== null)
    .map(({ name, parameters, doc }) => {
      const isAsync = !['processEvent', 'composeWebhook'].includes(name)
      const given = parameters!
        .map((each) => `${each.name}: ${each.type.text.replace('<Input>', '')}`)
        .join(', ')
      const body = name === 'processEvent' ? '  ${}\n  return event' : '  ${}'
      return snippetCompletion(`export ${isAsync ? 'async ' : ''}function ${name}(${given}) {\n${body}\n}`, {
        label: name,
        type: 'function',
        detail: 'called by Longshore',
        ...(doc === '' ? {} : { info: doc }),
      })
    })
}

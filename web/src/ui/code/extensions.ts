// What an editor can do, as CodeMirror's extensions.
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
  completionStatus,
  type CompletionSource,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { setDiagnostics } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Annotation, Compartment, EditorState, Prec, type Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  type KeyBinding,
} from '@codemirror/view'
import { styleNonce } from '../../page'
import type { CodeProblem } from './CodeEditor'
import { highlighting, look } from './look'

type Options = {
  label: string
  hintId: string
  isReadOnly: boolean
  onChange: (text: string) => void
  completions: () => readonly CompletionSource[]
  onRun?: () => void
  onSave?: () => void
}

export const languageSlot = new Compartment()
export const readOnlySlot = new Compartment()

/** Text that the page put in, which it need not be told of. */
const fromPage = Annotation.define<boolean>()

/** Longer than anybody stays on one page: Tab stays free until the next key. */
const UNTIL_NEXT_KEY_MS = 1e12

export function editorExtensions({
  label,
  hintId,
  isReadOnly,
  onChange,
  completions,
  onRun,
  onSave,
}: Options): Extension[] {
  return [
    EditorView.cspNonce.of(styleNonce()),
    EditorView.contentAttributes.of({ 'aria-label': label, 'aria-describedby': hintId }),
    lineNumbers(),
    highlightSpecialChars(),
    history(),
    drawSelection(),
    EditorState.allowMultipleSelections.of(true),
    EditorState.tabSize.of(2),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ icons: false, activateOnTypingDelay: 60 }),
    EditorState.languageData.of(() => completions().map((autocomplete) => ({ autocomplete }))),
    highlightActiveLine(),
    highlightSelectionMatches(),
    search({ top: true }),
    EditorView.lineWrapping,
    syntaxHighlighting(highlighting),
    look,
    languageSlot.of([]),
    readOnlySlot.of(readOnly(isReadOnly)),
    Prec.highest(
      keymap.of([...actions(onRun, onSave), { key: 'Escape', run: closeCompletion, stopPropagation: true }]),
    ),
    keymap.of([
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...searchKeymap,
      ...historyKeymap,
      leaveWithTab,
      ...defaultKeymap,
      indentWithTab,
    ]),
    EditorView.domEventHandlers({ beforeinput: replaceSelection, blur: forgetPendingCompletion }),
    EditorView.updateListener.of(({ docChanged, state, transactions }) => {
      if (docChanged && !transactions.some((one) => one.annotation(fromPage))) onChange(state.doc.toString())
    }),
  ]
}

/** Still to be reached and read, unlike what cannot be edited at all. */
export const readOnly = (isReadOnly: boolean): Extension => [
  EditorState.readOnly.of(isReadOnly),
  isReadOnly ? EditorView.contentAttributes.of({ 'aria-readonly': 'true' }) : [],
]

/** The cursor stays where it is when the page hands back what was typed. */
export function applyText(view: EditorView, text: string): void {
  const { doc } = view.state
  if (text === doc.toString()) return
  view.dispatch({ changes: { from: 0, to: doc.length, insert: text }, annotations: fromPage.of(true) })
}

/** Puts the cursor there, in the middle of what is seen. */
export function showPlace(view: EditorView, offset: number): void {
  const at = Math.min(Math.max(0, offset), view.state.doc.length)
  view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) })
  view.focus()
}

/** Places may be those of a text that was changed meanwhile. */
export function showProblems(view: EditorView, problems: readonly CodeProblem[]): void {
  const { length } = view.state.doc
  const shown = problems.map(({ from, to, message }) => {
    const start = Math.min(Math.max(0, from), Math.max(0, length - 1))
    return { from: start, to: Math.min(Math.max(to, start + 1), length), severity: 'error' as const, message }
  })
  view.dispatch(setDiagnostics(view.state, shown))
}

/**
 * Text typed over a selection, done by ourselves: Chromium keeps the look of what it replaces by a style attribute, which the
 * page's policy refuses with a message for each.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { state } = view
  const { from, to, empty } = state.selection.main
  const { data } = event
  if (event.inputType !== 'insertText' || data === null || empty || view.composing || state.readOnly)
    return false
  const insert = () =>
    state.update(state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true })
  const isTaken = state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert))
  if (!isTaken) view.dispatch(insert())
  event.preventDefault()
  return true
}

/** CodeMirror closes an open list when the focus leaves, but one that is still looked for would open afterwards and stay. */
function forgetPendingCompletion(_event: FocusEvent, view: EditorView): void {
  if (completionStatus(view.state) === 'pending') setTimeout(() => closeCompletion(view))
}

function actions(onRun?: () => void, onSave?: () => void): KeyBinding[] {
  const act = (keys: readonly string[], action?: () => void) =>
    action === undefined
      ? []
      : keys.map((key) => ({
          key,
          preventDefault: true,
          run: (view: EditorView) => {
            // It would lie over what the action shows.
            closeCompletion(view)
            action()
            return true
          },
        }))
  return [...act(['Mod-Enter', 'Ctrl-Enter'], onRun), ...act(['Mod-s', 'Ctrl-s'], onSave)]
}

const leaveWithTab: KeyBinding = {
  key: 'Escape',
  run(view) {
    view.setTabFocusMode(UNTIL_NEXT_KEY_MS)
    return false
  },
}

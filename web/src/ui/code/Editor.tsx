// CodeMirror as a React component: the text belongs to the page, everything else to the editor.
import { EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { useEffect, useEffectEvent, useId, useRef } from 'react'
import type { CodeEditorProps } from './CodeEditor'
import classes from './CodeEditor.module.css'
import {
  applyText,
  editorExtensions,
  languageSlot,
  readOnlySlot,
  readOnly,
  showPlace,
  showProblems,
} from './extensions'
import { loadLanguage } from './languages'

const NONE = [] as const

export default function Editor(props: CodeEditorProps) {
  const { value, language, label, diagnostics = NONE, isReadOnly = false, hasFocus = false } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const hintId = useId()
  const changed = useEffectEvent((text: string) => props.onChange?.(text))
  const run = useEffectEvent(() => props.onRun?.())
  const save = useEffectEvent(() => props.onSave?.())
  const completions = useEffectEvent(() => props.completions ?? NONE)

  useEffect(() => {
    const editor = new EditorView({
      parent: host.current!,
      state: EditorState.create({
        doc: value,
        extensions: editorExtensions({
          label,
          hintId,
          isReadOnly,
          onChange: changed,
          completions,
          ...(props.onRun ? { onRun: run } : {}),
          ...(props.onSave ? { onSave: save } : {}),
        }),
      }),
    })
    view.current = editor
    if (hasFocus) editor.focus()
    return () => {
      view.current = null
      editor.destroy()
    }
    // The rest is handed over below, without making the editor anew.
  }, [label, hintId])

  useEffect(() => {
    let isGone = false
    void loadLanguage(language).then((support) => {
      if (!isGone) view.current?.dispatch({ effects: languageSlot.reconfigure(support) })
    })
    return () => {
      isGone = true
    }
  }, [language, label, hintId])

  useEffect(() => applyText(view.current!, value), [value])
  useEffect(
    () => view.current!.dispatch({ effects: readOnlySlot.reconfigure(readOnly(isReadOnly)) }),
    [isReadOnly],
  )
  const { shownAt } = props
  useEffect(() => {
    if (shownAt !== undefined) showPlace(view.current!, shownAt)
  }, [shownAt, label])
  // The editor itself moves them along while somebody types.
  useEffect(() => showProblems(view.current!, diagnostics), [diagnostics])

  return (
    <>
      <div ref={host} className={classes.host} />
      <span id={hintId} className="aloud">
        Tab indents. Press Escape, then Tab, to leave the editor.
      </span>
    </>
  )
}

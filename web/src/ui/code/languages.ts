// Languages of editors, each loaded when the first text in it is shown.
import { LanguageSupport } from '@codemirror/language'
import type { CodeLanguage } from './CodeEditor'

/** Words of HogQL that nobody calls a column: `day` and `timestamp` are names more often than words. */
const WORDS =
  'all and anti any array as asc asof between by case cast collate cross cube desc distinct else end except extract ' +
  'false filter final following for from full global group having if ilike in inner intersect interval into is join ' +
  'lateral left like limit not null nulls offset on or order outer over partition preceding prewhere qualify right ' +
  'rollup sample select semi settings then totals true unbounded union using when where window with'

export async function loadLanguage(language: CodeLanguage): Promise<LanguageSupport> {
  switch (language) {
    case 'sql': {
      const { SQLDialect } = await import('@codemirror/lang-sql')
      const dialect = SQLDialect.define({
        keywords: WORDS,
        types: '',
        builtin: '',
        identifierQuotes: '`"',
        backslashEscapes: true,
        operatorChars: '*+-%<>!=&|~^/?:',
        spaceAfterDashes: false,
      })
      // Its own completion knows neither our tables nor our functions.
      return new LanguageSupport(dialect.language)
    }
    case 'javascript':
    case 'typescript': {
      const { javascript } = await import('@codemirror/lang-javascript')
      return javascript({ typescript: language === 'typescript' })
    }
    case 'json': {
      const { json } = await import('@codemirror/lang-json')
      return json()
    }
  }
}

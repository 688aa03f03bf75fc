// Languages of editors, each loaded when the first text in it is shown.
import { LanguageSupport } from '@codemirror/language'
import type { CodeLanguage } from './CodeEditor'

/** Words of HogQL: what its parser keeps for itself. Names of functions and columns are no words. */
const WORDS =
  'all and anti any array as asc asof between by case cast collate cross cube current date desc distinct else end ' +
  'except exclude extract false fill filter final first following for from full global group having if ignore ilike ' +
  'in inf inner intersect interpolate interval into is join last lateral left like limit nan not null nulls offset on ' +
  'or order outer over partition preceding prewhere qualify range respect right rollup row rows sample select semi ' +
  'settings step substring then ties timestamp to top totals trim true truncate unbounded union using values when ' +
  'where window with year month week day hour minute second quarter'

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

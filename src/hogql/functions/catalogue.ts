// Every function HogQL knows, by name in lower case. What is in none of the three does not exist.
import { aggregateFunctions } from './aggregates.ts'
import { arrayFunctions } from './arrays.ts'
import { conversionFunctions } from './conversions.ts'
import { dateArithmeticFunctions } from './date-arithmetic.ts'
import { formatDateTime } from './date-format.ts'
import { dateFunctions } from './dates.ts'
import { arrayWalkFunctions } from './array-walks.ts'
import { catalogue } from './define.ts'
import type { Aggregate, Catalogue } from './function.ts'
import { funnelFunctions } from './funnels.ts'
import { jsonFunctions } from './json.ts'
import { lambdaFunctions } from './lambdas.ts'
import { logicFunctions } from './logic.ts'
import { mathematicsFunctions } from './mathematics.ts'
import { numberFunctions } from './numbers.ts'
import { patternFunctions } from './patterns.ts'
import { quantileFunctions } from './quantiles.ts'
import { searchFunctions } from './searching.ts'
import { textFunctions } from './text.ts'
import { urlFunctions } from './urls.ts'
import { windowOnlyFunctions } from './windows.ts'
import { writingFunctions } from './writing.ts'

export const scalarFunctions: Catalogue = catalogue(
  logicFunctions,
  conversionFunctions,
  numberFunctions,
  mathematicsFunctions,
  textFunctions,
  searchFunctions,
  writingFunctions,
  patternFunctions,
  urlFunctions,
  jsonFunctions,
  arrayFunctions,
  arrayWalkFunctions,
  lambdaFunctions,
  dateFunctions,
  dateArithmeticFunctions,
  [formatDateTime],
)

export const aggregates: Catalogue<Aggregate> = catalogue(
  aggregateFunctions,
  quantileFunctions,
  funnelFunctions,
)

export const windowFunctions: Catalogue = catalogue(windowOnlyFunctions)

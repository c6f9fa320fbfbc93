import { BOOKS } from './books.ts'
import type { Case } from './case.ts'
import { CONDITIONS } from './conditions.ts'
import { DAYS } from './days.ts'
import { EDGES } from './edges.ts'
import { EVALUATIONS } from './evaluations.ts'
import { NUMBERS } from './numbers.ts'
import { SETTLEMENTS } from './settlements.ts'
import { SIMULATIONS } from './simulations.ts'
import { TRANSFERS } from './transfers.ts'

/** All examples of the engine. Their names differ. */
export const CASES: readonly Case[] = [
  ...NUMBERS,
  ...DAYS,
  ...CONDITIONS,
  ...EVALUATIONS,
  ...SETTLEMENTS,
  ...TRANSFERS,
  ...BOOKS,
  ...SIMULATIONS,
  ...EDGES,
]

import type { Case } from './case.ts'

/** All examples of the engine. Their names differ. */
export const CASES: readonly Case[] = []

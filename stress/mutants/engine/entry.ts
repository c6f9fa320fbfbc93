/** What the script of bundle.ts exports: the engine, and its tests by example. */
export { CASES } from '../../../test/commission/cases/all.ts'
export { evaluate } from '../../../test/commission/engine.ts'

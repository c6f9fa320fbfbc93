/** What the script of bundle.ts exports: the engine, and its tests by example and by the laws of books. */
export { CASES } from '../../../test/commission/cases/all.ts'
export { evaluate } from '../../../test/commission/engine.ts'
export { compareBooks } from '../../../test/commission/keep-books.ts'

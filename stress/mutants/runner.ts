import { relative, resolve } from 'node:path'
import { createVitest } from 'vitest/node'
import { isFacade, liveImports } from './live-imports.ts'
import {
  COVERAGE_PREFIX,
  type CoverageReport,
  type Hunt,
  type HuntResult,
  LOADED_PREFIX,
  type Plan,
  RESULT_PREFIX,
  STARTED_PREFIX,
} from './plan.ts'

/** If no test reports about a mutant for this long, in milliseconds, the mutant hangs the runtime. */
const HANGS_MS = 300_000

/** What the tests have reported so far. */
export interface Reports {
  coverageReports: CoverageReport[]
  /** The mutants that ran while modules loaded. */
  loaded: Set<string>
  /** The results by mutant. A result with a test that kills the mutant replaces one without. */
  results: Map<string, HuntResult>
  /** The mutants whose tests are running, with the time at which they started. */
  active: Map<string, number>
}

/** Reads the lines that hunt.ts prints into the reports. */
function listen(reports: Reports, content: string): void {
  for (const line of content.split('\n')) {
    if (line.startsWith(STARTED_PREFIX))
      reports.active.set(line.slice(STARTED_PREFIX.length), Date.now())
    if (line.startsWith(COVERAGE_PREFIX))
      reports.coverageReports.push(JSON.parse(line.slice(COVERAGE_PREFIX.length)))
    if (line.startsWith(LOADED_PREFIX)) {
      for (const id of JSON.parse(line.slice(LOADED_PREFIX.length))) reports.loaded.add(id)
    }
    if (!line.startsWith(RESULT_PREFIX)) continue
    const found: HuntResult = JSON.parse(line.slice(RESULT_PREFIX.length))
    reports.active.delete(found.mutant)
    if (!reports.results.get(found.mutant)?.killedBy) reports.results.set(found.mutant, found)
  }
}

// Miniflare would ask Cloudflare for the properties of a request, and print that it cannot.
process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false'

/** Starts Vitest on the instrumented source. */
export async function startRunner(
  source: ReadonlyMap<string, string>,
  results: Map<string, HuntResult>,
) {
  const reports: Reports = {
    coverageReports: [],
    loaded: new Set(),
    results,
    active: new Map(),
  }
  const vitest = await createVitest(
    'test',
    {
      watch: false,
      // This list replaces that of vitest.config.ts. The hooks of the tests run before those of hunt.ts.
      setupFiles: ['./test/setup.ts', './stress/mutants/hunt.ts'],
      sequence: { setupFiles: 'list' },
      testTimeout: 60_000,
      // Each file has its own modules and counters.
      isolate: true,
      reporters: [{ onUserConsoleLog: ({ content }) => listen(reports, content) }],
    },
    {
      plugins: [
        {
          name: 'mutants',
          enforce: 'pre',
          transform: (_, id) => (isFacade(id) ? null : source.get(id.split('?')[0]!)),
        },
        liveImports(),
      ],
    },
  )
  const project = vitest.getRootProject()

  /** Runs test files, prints the tests that fail without a mutant, and returns how many do. */
  async function run(files: string[], plan: Plan): Promise<number> {
    vitest.provide('plan', plan)
    const specs = files.map((file) => project.createSpecification(resolve(file)))
    const { testModules } = await vitest.runTestSpecifications(specs)
    let failed = 0
    for (const module of testModules) {
      if (module.errors().length > 0) console.error(...module.errors())
      const file = relative('.', module.moduleId)
      for (const test of module.children.allTests('failed')) {
        const [error] = test.result().errors ?? []
        const why = error?.message.split('\n')[0]
        console.log(`${file}: "${test.fullName}" fails without a mutant: ${why}`)
        failed += 1
      }
    }
    return failed
  }

  return {
    reports,
    /** Lets each test report which mutants it covers. */
    map: (files: string[]) => run(files, { hunts: {}, isMapping: true }),
    /** Lets the tests of each file hunt mutants. */
    hunt(hunts: ReadonlyMap<string, Hunt>): Promise<number> {
      const entries = [...hunts].map(([file, hunt]) => [resolve(file), hunt])
      return run([...hunts.keys()], { hunts: Object.fromEntries(entries), isMapping: false })
    },
    /** The mutants that hang the runtime, so that no answer about them will come. */
    hanging: () =>
      [...reports.active].filter(([, since]) => Date.now() - since > HANGS_MS).map(([id]) => id),
    close: () => vitest.close(),
  }
}

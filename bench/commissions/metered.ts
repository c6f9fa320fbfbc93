import service, {
  ClientGate,
  ErasureJournal,
  StatementRun as ServiceStatementRun,
  TokenGate,
} from 'tributary:service'
import { watched, withMeter } from '../cost/meter.ts'

// The bundled service with a meter around it and around its Workflow.

type WorkflowClass = new (context: unknown, env: object) => object

const withWatchedBindings = (Real: WorkflowClass) =>
  class extends Real {
    constructor(context: unknown, env: object) {
      super(context, watched(env))
    }
  }

/** The Workflow of a run, with the rows of its database counted. */
export const StatementRun = withWatchedBindings(ServiceStatementRun)
export { ClientGate, ErasureJournal, TokenGate }
export default withMeter(service)

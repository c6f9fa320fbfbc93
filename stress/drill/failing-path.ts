/** The path at which the service of the drill takes the bindings of the databases that fail from now on. */
export const FAILING_PATH = '/_failing'

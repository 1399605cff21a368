// Generated from docs/openapi/secrets.json by `npm run generate`.
export interface paths {
    "/api/consumer/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The secrets that are served in an environment, by name
         * @description Lists the secrets with an active version, with their values where `values` is true, in pages. A value that is listed is recorded in the audit as a read; a list without values as one entry.
         */
        get: operations["readSecrets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/consumer/secrets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The newest active version of a secret in an environment
         * @description Reads the version with the highest number that is enabled and within its times, with the key of the application. An unknown environment, an unknown secret and one without an active version are the same 404. Every read is recorded in the audit.
         */
        get: operations["readSecret"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/consumer/configurations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All configuration entries of an environment, by key
         * @description Reads the configuration entries of an environment, with the key of the application.
         */
        get: operations["readConfigurations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description A page of the secrets of an environment.
         * @example {
         *       "items": [
         *         {
         *           "name": "database-password",
         *           "properties": {
         *             "enabled": true,
         *             "expiresOn": null,
         *             "notBefore": null,
         *             "version": 2,
         *             "createdOn": "2026-03-15T12:00:00.000Z",
         *             "updatedOn": null
         *           }
         *         }
         *       ],
         *       "next": null
         *     }
         */
        ReadSecrets: {
            /** @description The secrets with an active version, by name */
            items: components["schemas"]["ListedSecret"][];
            /** @description The cursor of the next page, for `after`; null on the last page */
            next: string | null;
        };
        /**
         * @description A secret that is served in the environment; its value only where values were asked for.
         * @example {
         *       "name": "database-password",
         *       "properties": {
         *         "enabled": true,
         *         "expiresOn": null,
         *         "notBefore": null,
         *         "version": 2,
         *         "createdOn": "2026-03-15T12:00:00.000Z",
         *         "updatedOn": null
         *       }
         *     }
         */
        ListedSecret: {
            /** @description The name of the secret */
            name: string;
            /** @description The value of the version */
            value?: string;
            properties: components["schemas"]["SecretProperties"];
        };
        /** @description Facts of the version. */
        SecretProperties: {
            /** @description Always true: a disabled version is not served */
            enabled: boolean;
            /** @description The version is served until this time, inclusive; null: without end */
            expiresOn: string | null;
            /** @description The version is served from this time, inclusive */
            notBefore: string | null;
            /** @description The number of the version */
            version: number;
            /**
             * Format: date-time
             * @description When the version was created
             * @example 2026-03-15T12:00:00.000Z
             */
            createdOn: string;
            /** @description Always null: the value of a version never changes */
            updatedOn: string | null;
            /** @description The slug of the environment that the version was inherited from */
            inheritedFrom?: string;
        };
        /**
         * @description The newest active version of a secret, in the shape of a common cloud vault.
         * @example {
         *       "name": "database-password",
         *       "value": "correct horse battery staple",
         *       "properties": {
         *         "enabled": true,
         *         "expiresOn": null,
         *         "notBefore": null,
         *         "version": 2,
         *         "createdOn": "2026-03-15T12:00:00.000Z",
         *         "updatedOn": null
         *       }
         *     }
         */
        ReadSecret: {
            /** @description The name of the secret */
            name: string;
            /** @description The value of the version */
            value: string;
            properties: components["schemas"]["SecretProperties"];
        };
        /** @description All configuration entries of an environment. */
        ReadConfigurations: {
            /** @description The entries, by key */
            items: components["schemas"]["ReadConfiguration"][];
        };
        /**
         * @description A configuration entry.
         * @example {
         *       "key": "features/checkout",
         *       "value": "on",
         *       "label": "production"
         *     }
         */
        ReadConfiguration: {
            /** @description The key of the entry */
            key: string;
            /** @description The value of the entry */
            value: string;
            /** @description The slug of the environment */
            label: string;
            /** @description The slug of the environment that the entry was inherited from */
            inheritedFrom?: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readSecrets: {
        parameters: {
            query: {
                /** @description The slug of the environment */
                environment: string;
                /** @description Whether the values are listed as well */
                values?: boolean;
                /** @description How many secrets; with values a page ends earlier once they are 2 MiB */
                limit?: number;
                /** @description The `next` of another page of this list */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description `no-store`: no cache may keep the answer */
                    "Cache-Control": string;
                    /** @description Names the request in the log of the service; taken over from the request where it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadSecrets"];
                };
            };
        };
    };
    readSecret: {
        parameters: {
            query: {
                /** @description The slug of the environment */
                environment: string;
            };
            header?: never;
            path: {
                /** @description The name of the secret */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description `no-store`: no cache may keep the answer */
                    "Cache-Control": string;
                    /** @description Names the request in the log of the service; taken over from the request where it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadSecret"];
                };
            };
        };
    };
    readConfigurations: {
        parameters: {
            query: {
                /** @description The slug of the environment */
                environment: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description `no-store`: no cache may keep the answer */
                    "Cache-Control": string;
                    /** @description Names the request in the log of the service; taken over from the request where it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadConfigurations"];
                };
            };
        };
    };
}

// Generated from docs/openapi/webhook-intake.json by `npm run generate`.
export interface paths {
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The event log, newest first; or what was stored since, with before or wait
         * @description Events by the time at which they were received. Several filters hold together; a page may be shorter than `limit` and have a `next`. With `before` or `wait` the answer has the events that were stored after that point, in the order of storing, and `next` is null: `newest` leads on.
         */
        get: operations["listEvents"];
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
         * @description The class of a sender
         * @enum {string}
         */
        SenderClass: "owner" | "person" | "bot" | "own-bot";
        /** @description A page of the log, and where events that are stored later begin */
        FollowedEventPage: {
            /** @description The items of this page */
            items: components["schemas"]["Event"][];
            /**
             * @description For `after`, also where there are fewer items than `limit`; null on the last page
             * @example null
             */
            next: string | null;
            /**
             * @description For `before`: events that are stored after this answer
             * @example WyJldmVudHMvc3RvcmVkIiw0Ml0
             */
            newest: string;
        };
        /**
         * @description An event of a forge or another source
         * @example {
         *       "id": "019b76da-a800-7000-8000-5f3c1e2d4a6b",
         *       "source": "forge",
         *       "forge": "github.com",
         *       "event": "issues",
         *       "originalEvent": "issues",
         *       "action": "opened",
         *       "originalAction": "opened",
         *       "title": "[me/mine] issues opened #7: Spelling error in the README file",
         *       "repository": "me/mine",
         *       "sender": "octocat",
         *       "senderClass": "person",
         *       "relayId": "019b76da-a7c4-7000-8000-0c5f3c1e2d4a",
         *       "deliveryId": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
         *       "hookId": "292430182",
         *       "targetId": "79929171",
         *       "score": 7,
         *       "isCoreFunction": true,
         *       "bytes": 8172,
         *       "receivedAt": "2026-03-15T12:00:00.000Z",
         *       "storedAt": "2026-03-15T12:00:00.120Z"
         *     }
         */
        Event: {
            /**
             * Format: uuid
             * @description The id of the event
             */
            id: string;
            /** @description `forge`, or the name of a direct source */
            source: string;
            /** @description The host of the forge; null for a direct source */
            forge: string | null;
            /** @description The kind of the event, in GitHub's word for every forge */
            event: string;
            /** @description The kind in the forge's own word; null for a direct source */
            originalEvent: string | null;
            /** @description The action, in GitHub's word for every forge; null where there is none */
            action: string | null;
            /** @description The action in the forge's own word; null where there is none */
            originalAction: string | null;
            /** @description One line that says what happened, as in notifications */
            title: string | null;
            /** @description `owner/name`; null where the event is about none */
            repository: string | null;
            /** @description The login of the account that caused it; null where none is named */
            sender: string | null;
            /** @description owner, person, bot or own-bot; null where no sender is named */
            senderClass: string | null;
            /** @description The id of the relay's answer to the delivery; null for a direct source */
            relayId: string | null;
            /** @description The id that the forge or the source gave the delivery */
            deliveryId: string;
            /** @description The id of the webhook; 0 where none is named */
            hookId: string;
            /** @description The id of what the webhook belongs to; 0 where none is named */
            targetId: string;
            /** @description The priority, from 1 to 10 */
            score: number;
            /** @description Whether it is one of the core functions, whose score has a floor */
            isCoreFunction: boolean;
            /**
             * @description The size of the payload
             * @example 12
             */
            bytes: number;
            /**
             * Format: date-time
             * @description When the relay received it; of a direct source when the intake did
             * @example 2026-03-15T12:00:00.000Z
             */
            receivedAt: string;
            /**
             * Format: date-time
             * @description When it was stored
             * @example 2026-03-15T12:00:00.000Z
             */
            storedAt: string;
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
    listEvents: {
        parameters: {
            query?: {
                /** @description Text within title, repository, sender, source, event or action; without regard to case and accents */
                q?: string;
                /** @description `forge`, or the name of a direct source */
                source?: string;
                /** @description The host of the forge, such as `github.com` */
                forge?: string;
                /** @description The kind of the event, such as `issues` */
                event?: string;
                /** @description The action, such as `opened` */
                action?: string;
                /** @description `owner/name`, in any case */
                repository?: string;
                /** @description The login of the account that caused it */
                sender?: string;
                /** @description The class of the sender */
                senderClass?: components["schemas"]["SenderClass"];
                /** @description Events of this score or a higher one */
                minScore?: number;
                /** @description The id that the forge or the source gave the delivery */
                deliveryId?: string;
                /** @description Received at this time or later */
                from?: string;
                /** @description Received before this time */
                to?: string;
                /** @description The `newest` of another answer: the events that were stored after it, in the order of storing */
                before?: string;
                /** @description Seconds to wait for an event that is stored after `before`, or from now on; the answer comes with the first one */
                wait?: number;
                /** @description The most items of a page */
                limit?: number;
                /** @description The `next` of another page of this list */
                after?: string;
            };
            header?: {
                /** @description IANA name of the time zone whose days `by=day` of `statistics` counts in; refused everywhere when there is none of that name */
                "X-Timezone"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Names the request in the log of the service; taken over from the request where it has one */
                    "X-Request-Id": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FollowedEventPage"];
                };
            };
        };
    };
}

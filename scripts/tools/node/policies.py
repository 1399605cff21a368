"""Enforces NetworkPolicies on a node, in whose network namespace it runs: reads pods, namespaces and policies every second and writes nftables rules.

It covers ingress and egress, peers by pod, namespace and IP block, ports by number, name and range, TCP, UDP and SCTP.
A pod that no policy selects is open. Traffic from the node itself (probes) always passes, as the API demands.

Arguments: the API server's URL, a file with a token, the file of its certificate authority.
"""

import json
import ssl
import subprocess
import sys
import time
import urllib.request

api, token, ca = sys.argv[1:]
context = ssl.create_default_context(cafile=ca)


def items(path):
    request = urllib.request.Request(api + path, headers={"Authorization": "Bearer " + open(token).read().strip()})
    return json.load(urllib.request.urlopen(request, context=context, timeout=10))["items"]


def selects(selector, labels):
    """Whether a label selector matches; None selects nothing, {} everything."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    for rule in selector.get("matchExpressions") or []:
        value, operator = labels.get(rule["key"]), rule["operator"]
        if (
            operator == "In" and value not in rule["values"]
            or operator == "NotIn" and value in rule["values"]
            or operator == "Exists" and value is None
            or operator == "DoesNotExist" and value is not None
        ):
            return False
    return True


def ports(pod, rule_ports):
    """The nft matches of a rule's ports on the receiving pod, [''] if the rule names none; pod is None for a peer outside of the cluster."""
    if not rule_ports:
        return [""]
    found = []
    for port in rule_ports:
        protocol, number = port.get("protocol", "TCP").lower(), port.get("port")
        if number is None:
            found.append(f"meta l4proto {protocol}")
            continue
        if isinstance(number, str):
            declared = [p for c in (pod or {"spec": {"containers": []}})["spec"]["containers"] for p in c.get("ports", [])]
            numbers = [p["containerPort"] for p in declared if p.get("name") == number and p.get("protocol", "TCP").lower() == protocol]
        else:
            numbers = [f"{number}-{port['endPort']}" if "endPort" in port else number]
        found += [f"{protocol} dport {n}" for n in numbers]
    return found


def addresses(pod):
    return pod["status"]["podIP"]


def rules(direction, pod, policy, pods, namespaces):
    """The nft matches that one policy accepts for one pod."""
    side, peers_key = ("saddr", "from") if direction == "ingress" else ("daddr", "to")
    for rule in policy["spec"].get(direction) or []:
        peers = rule.get(peers_key)
        if not peers:
            for match in ports(pod if direction == "ingress" else None, rule.get("ports")):
                yield match
            continue
        for peer in peers:
            if "ipBlock" in peer:
                block = peer["ipBlock"]
                excepted = "".join(f"ip {side} != {e} " for e in block.get("except", []))
                for match in ports(pod if direction == "ingress" else None, rule.get("ports")):
                    yield f"ip {side} {block['cidr']} {excepted}{match}"
                continue
            for other in pods:
                namespace = other["metadata"]["namespace"]
                if "namespaceSelector" in peer:
                    if not selects(peer["namespaceSelector"], namespaces[namespace]):
                        continue
                elif namespace != policy["metadata"]["namespace"]:
                    continue
                if not selects(peer.get("podSelector", {}), other["metadata"].get("labels", {})):
                    continue
                for match in ports(pod if direction == "ingress" else other, rule.get("ports")):
                    yield f"ip {side} {addresses(other)} {match}"


def table():
    namespaces = {n["metadata"]["name"]: n["metadata"].get("labels", {}) for n in items("/api/v1/namespaces")}
    pods = [
        p for p in items("/api/v1/pods")
        if p["status"].get("podIP") and not p["spec"].get("hostNetwork") and p["status"]["phase"] in ("Pending", "Running")
    ]
    policies = items("/apis/networking.k8s.io/v1/networkpolicies")
    chains, maps = [], {"ingress": [], "egress": []}
    for index, pod in enumerate(sorted(pods, key=addresses)):
        for direction in ("egress", "ingress"):
            own = [
                p for p in policies
                if p["metadata"]["namespace"] == pod["metadata"]["namespace"]
                and selects(p["spec"].get("podSelector", {}), pod["metadata"].get("labels", {}))
                and direction.capitalize() in p["spec"].get("policyTypes", ["Ingress"])
            ]
            if not own:
                continue
            body = sorted({f"{rule} return" for p in own for rule in rules(direction, pod, p, pods, namespaces)})
            chains.append(f"  chain {direction}_{index} {{\n    " + "\n    ".join([*body, "counter drop"]) + "\n  }")
            maps[direction].append(f"{addresses(pod)} : jump {direction}_{index}")
    lines = ["table inet policies {}", "delete table inet policies", "table inet policies {", *chains]
    # Packets from a pod to the API server, which runs on the node, pass the input hook.
    for hook, checked in (("forward", ("egress", "ingress")), ("input", ("egress",))):
        lines += [f"  chain {hook} {{", f"    type filter hook {hook} priority 10; policy accept;", "    ct state established,related accept"]
        for direction in checked:
            if maps[direction]:
                lines.append(f"    ip {'saddr' if direction == 'egress' else 'daddr'} vmap {{ {', '.join(maps[direction])} }}")
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


applied = None
while True:
    try:
        wanted = table()
        if wanted != applied:
            subprocess.run(["nft", "-f", "-"], input=wanted, text=True, check=True)
            applied = wanted
    except Exception as error:  # the next round tries again
        print(time.strftime("%H:%M:%S"), repr(error), file=sys.stderr, flush=True)
    time.sleep(1)

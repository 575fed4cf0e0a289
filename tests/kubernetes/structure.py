"""What must hold between a job's objects in Kubernetes, which no schema says: who names whom, and that it is there."""

import re

LABEL = re.compile(r"^[a-z]([-a-z0-9]*[a-z0-9])?$")  # of a Service's name, the strictest; 63 characters at most
SUFFIX_OF_POD = len("-abcde")
# What a key looks like (40 characters of Z85), as a whole value or as that of an option.
KEY = re.compile(r"(--?[a-z-]+=)?[0-9a-zA-Z.:+=^!/*?&<>()\[\]{}@%$#-]{40}")
# By role of a pod: of its Secret's keys those that it sees, and its argument.
KEYS = {"server": (["server.key", "allowed.keys"], "--keys={folder}"), "worker": (["worker.key"], "--keys={folder}/worker.key")}
BUCKET = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}  # what may come from a Secret as a variable
FILES_OF_COPIES = {"copy_key_file": "copy-key", "s3_credentials_file": "s3-credentials"}  # servers alone see them
GROUP_READS = 0o440
UNITS = {"": 1, "m": 1e-3, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def quantity(text):
    """512Mi, 500m, 2"""
    number, unit = re.fullmatch(r"(\d+(?:\.\d+)?)(\w*)", str(text)).groups()
    return float(number) * UNITS[unit]


def matches(selector, labels):
    return bool(selector) and all(labels.get(key) == value for key, value in selector.items())


class Objects:
    """`external`: names of claims and secrets that others make."""

    def __init__(self, objects, external=()):
        self.objects = objects
        self.external = set(external)
        self.faults = []

    def of(self, kind):
        return [each for each in self.objects if each["kind"] == kind]

    def names(self, kind):
        return {each["metadata"]["name"] for each in self.of(kind)}

    def pods(self):
        """(name of the Job, labels, specification) of each Job's pods."""
        for job in self.of("Job"):
            template = job["spec"]["template"]
            yield job["metadata"]["name"], template["metadata"].get("labels", {}), template["spec"]

    def fault(self, where, text):
        self.faults.append(f"{where}: {text}")

    def check(self):
        self.check_names()
        self.check_selectors()
        self.check_ports()
        self.check_budgets()
        for secret in self.of("Secret"):
            self.fault(secret["metadata"]["name"], "is a Secret with its contents")
        for name, labels, pod in self.pods():
            self.check_keys(name, labels, pod)
            self.check_volumes(name, pod)
            self.check_variables(name, pod)
            self.check_security(name, pod)
            for container in containers(pod):
                self.check_resources(name, container)
        return self.faults

    # ---- names

    def check_names(self):
        seen = set()
        for each in self.objects:
            name = each["metadata"]["name"]
            key = (each["kind"], each["metadata"].get("namespace"), name)
            if key in seen:
                self.fault(name, f"there are two of kind {each['kind']}")
            seen.add(key)
            longest = 63 if each["kind"] in ("Job", "Service") else 253
            if each["kind"] in ("Job", "Service", "ConfigMap", "PersistentVolumeClaim") and not LABEL.match(name):
                self.fault(name, "is no name that a Service may have")
            if len(name) > longest:
                self.fault(name, f"has {len(name)} characters")
            for value in each["metadata"].get("labels", {}).values():
                if not isinstance(value, str) or len(value) > 63:
                    self.fault(name, f"label {value!r}")

    # ---- who selects whom

    def check_selectors(self):
        pods = list(self.pods())
        for service in self.of("Service"):
            selected = [name for name, labels, _ in pods if matches(service["spec"].get("selector"), labels)]
            if selected != [service["metadata"]["name"]]:
                self.fault(service["metadata"]["name"], f"the Service selects pods of {selected}, not of its own Job")
            if not service["spec"].get("publishNotReadyAddresses"):
                self.fault(service["metadata"]["name"], "servers must be reached before they are ready")
        for kind in ("PodDisruptionBudget", "NetworkPolicy", "PodMonitor"):
            for each in self.of(kind):
                spec = each["spec"]
                selector = (spec.get("selector") or spec.get("podSelector"))["matchLabels"]
                if not any(matches(selector, labels) for _, labels, _ in pods):
                    self.fault(each["metadata"]["name"], f"this {kind} selects no pod")
        for each in self.of("ServiceMonitor"):
            selector = each["spec"]["selector"]["matchLabels"]
            if not any(matches(selector, service["metadata"]["labels"]) for service in self.of("Service")):
                self.fault(each["metadata"]["name"], "this ServiceMonitor selects no Service")
        for policy in self.of("NetworkPolicy"):
            for rule in policy["spec"]["ingress"]:
                for peer in rule["from"]:
                    selector = peer.get("podSelector", {}).get("matchLabels")
                    if selector and not all(matches(selector, labels) for _, labels, _ in pods
                                            if labels.get("app.kubernetes.io/instance") == selector.get(
                                                "app.kubernetes.io/instance")):
                        self.fault(policy["metadata"]["name"], "keeps out pods of its own job")

    def check_budgets(self):
        for budget in self.of("PodDisruptionBudget"):
            selector = budget["spec"]["selector"]["matchLabels"]
            pods = [name for name, labels, _ in self.pods() if matches(selector, labels)]
            if budget["spec"]["minAvailable"] != len(pods) - 1:
                self.fault(budget["metadata"]["name"],
                           f"minAvailable {budget['spec']['minAvailable']} of {len(pods)} servers")

    # ---- ports

    def check_ports(self):
        for service in self.of("Service"):
            for _, labels, pod in self.pods():
                if not matches(service["spec"]["selector"], labels):
                    continue
                there = {port["name"]: port["containerPort"] for container in pod["containers"]
                         for port in container["ports"]}
                for port in service["spec"]["ports"]:
                    if there.get(port["targetPort"]) != port["port"]:
                        self.fault(service["metadata"]["name"], f"port {port} is not one of {there}")
        for name, _, pod in self.pods():
            for container in pod["containers"]:
                ports = [port["containerPort"] for port in container.get("ports", [])]
                for argument in container["args"]:
                    listens = re.fullmatch(r"--(?:bind|lead-bind)=tcp://0\.0\.0\.0:(\d+)|--metrics=0\.0\.0\.0:(\d+)",
                                           argument)
                    if listens and int(listens[1] or listens[2]) not in ports:
                        self.fault(name, f"{argument} is none of its ports {ports}")

    # ---- pods

    def check_volumes(self, name, pod):
        volumes = {volume["name"]: volume for volume in pod.get("volumes", [])}
        mounted = {mount["name"] for container in containers(pod) for mount in container.get("volumeMounts", [])}
        for volume in mounted - set(volumes):
            self.fault(name, f"mounts {volume}, which is none of its volumes")
        for volume in set(volumes) - mounted:
            self.fault(name, f"the volume {volume} is mounted nowhere")
        for volume in volumes.values():
            claim = volume.get("persistentVolumeClaim", {}).get("claimName")
            map_ = volume.get("configMap", {}).get("name")
            for kind, wanted in (("PersistentVolumeClaim", claim), ("ConfigMap", map_)):
                if wanted and wanted not in self.names(kind) | self.external:
                    self.fault(name, f"there is no {kind} {wanted}")

    def check_keys(self, name, labels, pod):
        """That it has the Secret of its role and no other, as files that follow it; and that no key is anywhere else."""
        role = labels.get("app.kubernetes.io/component")
        files, argument = KEYS.get(role, ([], ""))
        secrets = [volume for volume in pod.get("volumes", []) if "secret" in volume or "projected" in volume]
        for key, place in FILES_OF_COPIES.items() if role == "server" else ():
            if file := self.file_of_job(labels["app.kubernetes.io/instance"], key, place):
                self.check_file(name, pod, file, place, [volume for volume in secrets if volume["name"] == place])
                secrets = [volume for volume in secrets if volume["name"] != place]
        if len(secrets) != (1 if files else 0):
            self.fault(name, f"mounts {len(secrets)} Secrets as {role}")
        for volume in secrets:
            secret = volume.get("secret", {})
            if secret.get("secretName") not in {f"{labels['app.kubernetes.io/instance']}-{role}-keys"} | self.external:
                self.fault(name, f"mounts the Secret {secret.get('secretName')} as {role}")
            if secret.get("items") != [{"key": file, "path": file} for file in files]:
                self.fault(name, f"sees {secret.get('items')} as {role}")
            if secret.get("defaultMode") != GROUP_READS or secret.get("optional"):
                self.fault(name, f"mounts its keys as {secret}")
            for container in containers(pod):
                mounts = [mount for mount in container.get("volumeMounts", []) if mount["name"] == volume["name"]]
                if len(mounts) != 1 or not mounts[0].get("readOnly") or "subPath" in mounts[0]:
                    self.fault(name, f"keys by {mounts}: a Secret that changes is not seen, or could be written")
                elif argument.format(folder=mounts[0]["mountPath"]) not in container["args"]:
                    self.fault(name, f"is not told of its keys in {mounts[0]['mountPath']}")
        for container in containers(pod):
            self.check_words(name, container)

    def file_of_job(self, instance, key, place):
        """The name of a file in a folder of servers, where the job file has one by that key."""
        for map_ in self.of("ConfigMap"):
            if map_["metadata"]["name"] == f"{instance}-job":
                found = re.search(rf'^ *{key}: "?/{place}/([\w.-]+)"?$', map_["data"]["job.yaml"], re.M)
                return found and found[1]
        return None

    def check_file(self, name, pod, file, place, volumes):
        secrets = [volume["secret"] for volume in volumes]
        if [secret.get("items") for secret in secrets] != [[{"key": file, "path": file}]] or any(
                secret.get("defaultMode") != GROUP_READS or secret["secretName"] not in self.external for secret in secrets):
            self.fault(name, f"has {place} by {secrets}")
        for container in containers(pod):
            mounts = [mount for mount in container.get("volumeMounts", []) if mount["name"] == place]
            if mounts != [{"name": place, "mountPath": f"/{place}", "readOnly": True}]:
                self.fault(name, f"sees {place} by {mounts}")

    def check_words(self, name, container):
        words = container["args"] + container.get("command", [])
        if "--insecure" in words:
            self.fault(name, "listens for everybody")
        for variable in container.get("env", []):
            words.append(variable.get("value", ""))
            if "secretKeyRef" in variable.get("valueFrom", {}) and variable["name"] not in BUCKET:
                self.fault(name, f"has a secret in its environment, {variable['name']}")
        if container.get("envFrom"):
            self.fault(name, "has an environment that nobody sees here")
        for word in words:
            if KEY.fullmatch(word):
                self.fault(name, f"has a key among its words: {word}")

    def check_variables(self, name, pod):
        services = {f"{service.upper().replace('-', '_')}_SERVICE_HOST" for service in self.names("Service")}
        for container in containers(pod):
            known = set(services)
            for variable in container.get("env", []):
                self.check_references(name, variable.get("value", ""), known)
                known.add(variable["name"])
                host = variable.get("value", "")
                if variable["name"] in ("BALLAST_LEAD_HOST", "BALLAST_HOST") and not host.startswith("$("):
                    if host not in self.names("Service"):
                        self.fault(name, f"there is no Service {host}")
                secret = variable.get("valueFrom", {}).get("secretKeyRef", {}).get("name")
                if secret and secret not in self.external:
                    self.fault(name, f"there is no Secret {secret}")
            for argument in container["args"]:
                self.check_references(name, argument, known)

    def check_references(self, name, text, known):
        for reference in re.findall(r"\$\((\w+)\)", text):
            if reference not in known:
                self.fault(name, f"{text}: Kubernetes knows no variable {reference} there")

    def check_security(self, name, pod):
        user = pod.get("securityContext", {})
        if not user.get("runAsNonRoot") or not user.get("runAsUser") or not user.get("fsGroup"):
            self.fault(name, "may run as root")
        if user.get("seccompProfile") != {"type": "RuntimeDefault"}:
            self.fault(name, "has no seccomp profile")
        if pod.get("automountServiceAccountToken") is not False:
            self.fault(name, "is given a token that it does not need")
        for container in containers(pod):
            security = container.get("securityContext", {})
            if security.get("allowPrivilegeEscalation") is not False or not security.get("readOnlyRootFilesystem") or \
                    security.get("capabilities") != {"drop": ["ALL"]}:
                self.fault(name, f"{container['name']} may do more than it needs")

    def check_resources(self, name, container):
        resources = container["resources"]
        if "memory" not in resources.get("limits", {}):
            self.fault(name, f"{container['name']} has no limit of memory")
        for kind, limit in resources.get("limits", {}).items():
            if quantity(resources["requests"].get(kind, limit)) > quantity(limit):
                self.fault(name, f"{container['name']} asks for more {kind} than it may take")


def containers(pod):
    return pod.get("initContainers", []) + pod["containers"]

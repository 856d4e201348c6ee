"""All settings of Redisson, from 3.20 to 4.7: those that are adopted, those that change nothing here, and the rest."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

__all__ = ["DECIDES", "ENCRYPTED", "HARMLESS", "MEANINGLESS", "REFUSED", "SERVERS", "TAKEN", "Refused"]

#: The settings with the addresses, by the name of the section.
SERVERS = {
    "singleServerConfig": "address",
    "masterSlaveServersConfig": "masterAddress",
    "sentinelServersConfig": "sentinelAddresses",
    "clusterServersConfig": "nodeAddresses",
    "replicatedServersConfig": "nodeAddresses",
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Settings that ``taking.py`` reads.
TAKEN = _words(
    """
    address checkSlotsCoverage clientName codec connectTimeout database masterAddress masterName natMap nodeAddresses
    password sentinelAddresses sentinelPassword sentinelUsername sslEnableEndpointIdentification sslKeystorePassword
    sslProtocols sslVerificationMode timeout username
    """
)

_OF_REDISSON = _words(
    """
    addressResolverGroupFactory checkLockSyncedSlaves cleanUpKeysAmount connectionListener eventLoopGroup executor
    fairLockWaitTimeout keepPubSubOrder lazyInitialization lockWatchdogBatchSize lockWatchdogTimeout maxCleanUpDelay
    minCleanUpDelay nettyExecutor nettyHook nettyThreads protocol referenceEnabled reliableTopicWatchdogTimeout
    slavesSyncTimeout threads transportMode useScriptCache useThreadClassLoader valkeyCapabilities
    """
)

# This library never resends a command silently, so there are no retries to configure.
_OF_CONNECTIONS = _words(
    """
    connectionMinimumIdleSize connectionPoolSize credentialsReapplyInterval dnsMonitoringInterval dnsMonitoringTimes
    idleConnectionTimeout
    keepAlive pingConnectionInterval pingTimeout reconnectionDelay retryAttempts retryDelay retryInterval
    sslKeyManagerFactory sslKeystoreType sslProvider sslTrustManagerFactory sslTruststorePassword
    subscriptionConnectionMinimumIdleSize
    subscriptionConnectionPoolSize subscriptionTimeout subscriptionsPerConnection tcpKeepAlive tcpKeepAliveCount
    tcpKeepAliveIdle tcpKeepAliveInterval tcpNoDelay tcpUserTimeout tlsVersion
    """
)

# This library reads only from masters.
_OF_REPLICAS = _words(
    """
    checkMasterLinkStatus checkSentinelsList checkSlaveStatusWithSyncing failedSlaveCheckInterval
    failedSlaveNodeDetector failedSlaveReconnectionInterval fallbackLoadingToMaster loadBalancer
    masterConnectionMinimumIdleSize
    masterConnectionPoolSize monitorIPChanges readMode scanInterval sentinelsDiscovery shardedSubscriptionMode
    slaveAddresses slaveConnectionMinimumIdleSize slaveConnectionPoolSize subscriptionMode
    """
)

#: Settings that change nothing here.
MEANINGLESS = _OF_REDISSON | _OF_CONNECTIONS | _OF_REPLICAS


@attrs.frozen
class Refused:
    """Why a setting cannot be adopted, and the options of ``connect`` that replace it."""

    why: str
    instead: frozenset[str] = frozenset()


#: Settings that matter, but cannot be given by a file here.
REFUSED: Mapping[str, Refused] = {
    "commandMapper": Refused("it renames commands, and this library sends Redis's own names"),
    "credentialsResolver": Refused(
        "it is a class of Java; give username= and password=, or credential_provider= of redis-py",
        frozenset(("password", "credential_provider")),
    ),
    "nameMapper": Refused(
        "it is a class of Java; give name_mapper= the prefix, or a function that maps names as it does",
        frozenset(("name_mapper",)),
    ),
    "natMapper": Refused(
        "it is a class of Java; a cluster takes address_remap= of redis-py, or natMap: in the file",
        frozenset(("address_remap",)),
    ),
    "secretKey": Refused(
        "Redisson PRO decrypts values by it, and this library does not; give password= and the like in plain",
        frozenset(("password", "credential_provider")),
    ),
    "sslCiphers": Refused(
        "Java's names of ciphers are not OpenSSL's; give ssl_ciphers= those of OpenSSL", frozenset(("ssl_ciphers",))
    ),
    "sslKeystore": Refused(
        "Python reads PEM files, and no keystore of Java: make one by openssl pkcs12 -in FILE -nodes -out client.pem, "
        "and give ssl_certfile='client.pem'",
        frozenset(("ssl_certfile",)),
    ),
    "sslTruststore": Refused(
        "Python reads PEM files, and no truststore of Java: make one by keytool -list -rfc -keystore FILE > ca.pem, "
        "and give ssl_ca_certs='ca.pem'",
        frozenset(("ssl_ca_certs", "ssl_ca_data", "ssl_ca_path")),
    ),
}

#: Parts of the names of settings that decide where to connect, as whom, or how values look. An unknown setting of this
#: kind is refused. Any other unknown setting only causes a warning, as every newer Redisson has some.
DECIDES = _words(
    """
    address host port node url uri endpoint server master sentinel cluster replica database user password credential
    secret token auth ssl tls nat proxy socket codec mapper serializ encrypt compress
    """
)

#: The prefix of a value that Redisson PRO decrypts.
ENCRYPTED = "{aes}"

#: Redisson's default classes for these settings.
HARMLESS = frozenset(("DefaultCommandMapper", "DefaultCredentialsResolver", "DefaultNameMapper", "DefaultNatMapper"))
